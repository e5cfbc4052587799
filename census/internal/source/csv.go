package source

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readCSV emits the values of one column. Columns are separated by commas, as in the output
// of mongoexport --type=csv, by semicolons or by tabs. The first row has the names of the
// columns and the place 0.
func (s *Input) readCSV(in io.Reader, emit func(*Batch) error) error {
	limit := &rowLimit{in: in, left: maxLine}
	rows := csv.NewReader(limit)
	rows.Comma = s.comma
	rows.ReuseRecord = true
	rows.FieldsPerRecord = -1
	names, err := rows.Read()
	if err != nil {
		return stopped(rows.InputOffset(), err)
	}
	column := slices.IndexFunc(names, func(name string) bool { return strings.TrimPrefix(name, utf8Mark) == s.options.Column })
	if column < 0 {
		row := []byte(strings.Join(names, ","))
		return fmt.Errorf("no column %q in the first row: %q (tried commas, semicolons and tabs as separators)%s", s.options.Column, clip(row), encodingHint(row))
	}
	b := s.batches.Get().(*Batch)
	b.Documents = 1
	for {
		limit.left = maxLine
		row, err := rows.Read()
		var wrong *csv.ParseError
		switch {
		case errors.As(err, &wrong):
			b.addProblem(b.Documents, "%w", wrong)
		case err == io.EOF:
			return emit(b)
		case err != nil:
			return cmp.Or(emit(b), stopped(rows.InputOffset(), err))
		case column >= len(row) || row[column] == "":
			b.Without++
		default:
			if !b.addPasted(row[column], b.Documents) {
				b.addOther(typeText, b.Documents, []byte(row[column]))
			}
		}
		if b.Documents++; b.Documents == batchSize {
			if err := emit(b); err != nil {
				return err
			}
			b = s.batches.Get().(*Batch)
		}
	}
}

// separators are the characters that may separate columns.
var separators = []rune{',', ';', '\t'}

// findColumn returns the separator with which the first row of text has the column. If none
// has, it returns a comma and false.
func findColumn(text []byte, column string) (comma rune, ok bool) {
	line, _, _ := strings.Cut(strings.TrimPrefix(string(text), utf8Mark), "\n")
	for _, comma := range separators {
		for name := range strings.SplitSeq(strings.TrimRight(line, "\r"), string(comma)) {
			if strings.Trim(name, `"`) == column {
				return comma, true
			}
		}
	}
	return ',', false
}

// rowLimit is a reader that fails if a row is too long. After a quote that is not closed, the
// rest of the text would be one row.
type rowLimit struct {
	in   io.Reader
	left int // how many more bytes the current row may have
}

func (l *rowLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("a row longer than %d MiB", maxLine>>20)
	}
	n, err := l.in.Read(p)
	l.left -= n
	return n, err
}
