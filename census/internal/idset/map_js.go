package idset

import (
	"errors"
	"os"
)

const moreSpace = "the browser gives this page no more memory and no more disk; type in a shell: oid census FILE"

// mapRecords returns an error, because files are not mapped and memory is limited.
func mapRecords(*os.File, int64, int64) ([]Record, func() error, error) {
	return nil, nil, errors.New("the ids of one machine do not fit into memory")
}
