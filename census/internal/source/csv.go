package source

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
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
	names = slices.Clone(names)
	names[0] = strings.TrimPrefix(names[0], utf8Mark)
	column, path := columnOf(names, s.options.Column)
	if column < 0 {
		row := []byte(strings.Join(names, ","))
		return fmt.Errorf("no column %q in the first row: %q (tried commas, semicolons and tabs as separators)%s%s", s.options.Column, clip(row), columnHint(s.text.Head), encodingHint(row))
	}
	b := s.batches.Get().(*Batch)
	b.Documents, b.Headings, b.first = 1, 1, true
	for {
		limit.left = maxLine
		row, err := rows.Read()
		ids := b.ids()
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
		case len(path) > 0:
			b.addCell(row[column], path)
		case !b.addPasted(row[column], b.Documents):
			b.addOther(typeText, b.Documents, value{isJSON: true, data: []byte(row[column])})
		}
		if err == nil && ids == b.ids() {
			b.lookRow(names, row)
		}
		if b.Documents++; b.Documents == batchSize {
			if err := emit(b); err != nil {
				return err
			}
			b = s.batches.Get().(*Batch)
		}
	}
}

// columnOf returns the index of a column, or -1. If its cells contain JSON, column may be the name
// of the column with a path of the ids in it, such as after._id; columnOf returns the path, too.
func columnOf(names []string, column string) (index int, path []string) {
	for name := column; name != ""; name = column[:max(strings.LastIndexByte(name, '.'), 0)] {
		if index = slices.Index(names, name); index >= 0 {
			if rest := strings.TrimPrefix(column[len(name):], "."); rest != "" {
				path = strings.Split(rest, ".")
			}
			return index, path
		}
	}
	return -1, nil
}

// addCell adds the values at path in a cell that contains JSON.
func (b *Batch) addCell(cell string, path []string) {
	found := 0
	doc, _ := jsonIn([]byte(cell))
	err := doc.find(path, func(v value) {
		found++
		b.add(v, b.Documents, true)
	})
	switch {
	case err != nil:
		b.addProblem(b.Documents, "%w: %q", err, clip([]byte(cell)))
	case found == 0:
		b.Without++
	}
}

// columnHint returns the end of an error message that names the columns with ids, if text is CSV
// without the column that was asked for, or "".
func columnHint(text []byte) string {
	most, hint := int64(0), ""
	for _, comma := range separators {
		rows := csv.NewReader(bytes.NewReader(text))
		rows.Comma, rows.FieldsPerRecord, rows.LazyQuotes = comma, -1, true
		names, err := rows.Read()
		b := Batch{first: true}
		for err == nil {
			var row []string
			if row, err = rows.Read(); err == nil {
				b.lookRow(names, row)
			}
		}
		for name, f := range b.Places {
			isOdd := strings.HasPrefix(name, "-") || strings.HasSuffix(name, InOtherText) || strings.ContainsAny(name, "[{") || new(Batch).addPasted(name, 0)
			if isOdd || f.Values < int64(b.Looked+1)/2 {
				continue // a comment of SQL, a program or a row of values; or few rows have ids, as in YAML
			}
			if f.Values > most || f.Values == most && name < hint {
				most, hint = f.Values, name
			}
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("; the column %q has %s: write --column %s", hint, phrase.Count(most, "id", "ids"), phrase.Argument(hint))
}

// separators are the characters that may separate columns.
var separators = []rune{',', ';', '\t'}

// findColumn returns the separator with which the first row of text has the column. If none
// has, it returns a comma and false.
func findColumn(text []byte, column string) (comma rune, ok bool) {
	line, _, _ := strings.Cut(strings.TrimPrefix(string(text), utf8Mark), "\n")
	for _, comma := range separators {
		names := each.Of(strings.Split(strings.TrimRight(line, "\r"), string(comma)), func(name string) string { return strings.Trim(name, `"`) })
		if index, _ := columnOf(names, column); index >= 0 {
			return comma, true
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
