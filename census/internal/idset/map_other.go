//go:build !unix && !js

package idset

import "os"

const moreSpace = "set TMP to a folder with more space"

// mapRecords allocates memory for records, because files are not mapped on this system.
func mapRecords(_ *os.File, _, size int64) ([]Record, func() error, error) {
	return make([]Record, size/RecordSize), func() error { return nil }, nil
}
