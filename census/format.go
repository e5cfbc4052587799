package census

import (
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/each"
)

// Format is the format of a source. In every format, compressions and containers
// are detected and undone: gzip, zstd, xz, bzip2, lz4, tar and zip.
type Format string

const (
	// FormatAuto detects the format from the content.
	FormatAuto Format = source.Auto
	// FormatBSON is a sequence of BSON documents, as in the .bson files of mongodump.
	FormatBSON Format = source.BSON
	// FormatArchive is the format of mongodump --archive.
	FormatArchive Format = source.Archive
	// FormatJSON is MongoDB Extended JSON, canonical or relaxed: one document per line,
	// documents over several lines, or one array of documents.
	FormatJSON Format = source.JSON
	// FormatCSV is CSV with the names of the columns in the first row. Semicolons and tabs
	// may separate columns, too.
	FormatCSV Format = source.CSV
	// FormatList is one id per line.
	FormatList Format = source.List
	// FormatGrep is any text, except UTF-16. Every run of exactly 24 hexadecimal digits
	// counts as an id. Data that is not text is an error. This format is never detected.
	FormatGrep Format = source.Grep
	// FormatTable is one column of a table, see [Live]. It is not in [Formats].
	FormatTable Format = "table"
)

// Formats returns all formats, FormatAuto first.
func Formats() []Format { return each.Of(source.Formats(), func(f string) Format { return Format(f) }) }

var (
	// ErrFormat is wrapped by the error of [Census.Read] if the format of a source is not
	// recognized, or if Options.Format is unknown.
	ErrFormat = source.ErrFormat

	// ErrEmpty is wrapped by the error of [Census.Read] for a source of 0 bytes.
	ErrEmpty = source.ErrEmpty
)
