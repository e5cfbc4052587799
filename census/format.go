package census

import (
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/each"
)

// Format is how a source is written. Compression with gzip or zstd is detected in every
// format.
type Format string

// The formats.
const (
	// FormatAuto detects the format from the content.
	FormatAuto Format = source.Auto
	// FormatBSON is documents one after another, as in the files of mongodump.
	FormatBSON Format = source.BSON
	// FormatArchive is the format of mongodump --archive.
	FormatArchive Format = source.Archive
	// FormatJSON is documents in MongoDB Extended JSON, canonical or relaxed: one to a
	// line, over several lines, or as one array.
	FormatJSON Format = source.JSON
	// FormatCSV is comma-separated values with the columns' names in the first row.
	FormatCSV Format = source.CSV
	// FormatList is one id per line.
	FormatList Format = source.List
	// FormatGrep is any text: every run of exactly 24 hexadecimal digits is an id.
	FormatGrep Format = source.Grep
)

// Formats returns all formats.
func Formats() []Format { return each.Of(source.Formats(), func(f string) Format { return Format(f) }) }

var (
	// ErrFormat is wrapped by the error for a source that is in none of the formats.
	ErrFormat = source.ErrFormat

	// ErrEmpty is wrapped by the error for a source without a single byte.
	ErrEmpty = source.ErrEmpty
)
