package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
	censusreport "github.com/oidkit/oid/internal/report"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
)

// columnsOf returns the width of out in columns: that of the terminal, or else the number in
// the environment variable COLUMNS. It returns 0 if both are missing.
func columnsOf(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	columns, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return max(columns, 0)
}

// report writes the report of c as text, JSON or HTML, as the flags say. It returns
// errReported if a part of the sources could not be read, or if no ids were judged.
func (f *censusFlags) report(std streams, c *census.Census, o *census.ReportOptions) error {
	r, err := c.Report(o)
	if err == nil {
		unknownFormat := false
		for _, s := range r.Sources {
			unknown := strings.HasPrefix(s.Error, phrase.Plain(census.ErrFormat.Error())+": not ") && !strings.Contains(s.Error, ": write --")
			unknownFormat = unknownFormat || unknown || r.IDs == 0 && s.Broken > 0 && s.Format == census.FormatJSON
			if s.Error != "" && s.Error != r.Partial {
				std.warn("%s: %s", s.Name, s.Error) // the report has it, too, but may go to a file
			}
		}
		if unknownFormat {
			std.warn("hint: set the format with --format or the column of CSV with --column, or find ids in any text with --grep")
		}
	}
	switch {
	case errors.Is(err, census.ErrTooFine):
		return usageError{err}
	case err != nil:
		return err
	case f.html != "":
		if r.IDs == 0 && r.Broken() {
			return errReported // do not overwrite the page of an earlier run with an empty one
		}
		err = writeFile(std.out, f.html, func(w io.Writer) error { return censusreport.WriteHTML(w, r) })
	default:
		err = f.asJSON.emit(std.out, towire.Census(r), func(w io.Writer) error { return censusreport.WriteText(w, r, columnsOf(w)) })
	}
	if err == nil && r.Unjudged != nil {
		std.warn("no ids were judged: %v", r.Unjudged)
		err = errReported
	}
	if err == nil && r.Broken() {
		err = errReported
	}
	return err
}

// checkFile returns an error if path is a folder, or a file that is also one of the sources.
func checkFile(path string, sources []string) error {
	target, err := os.Stat(path)
	if err != nil {
		return nil // a new file; other errors come when it is written
	}
	if target.IsDir() {
		return errors.New("it is a folder; name a file in it")
	}
	for _, source := range sources {
		if info, err := os.Stat(source); err == nil && target.Mode().IsRegular() && os.SameFile(info, target) {
			return fmt.Errorf("this would overwrite the source %s", source)
		}
	}
	return nil
}

// writeFile calls write with the file path, or with stdout if path is "-". The file changes
// only if write returns no error.
func writeFile(stdout io.Writer, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o666)
}

// compare runs oid census --compare.
func compare(cmd *cobra.Command, std streams, f *censusFlags, r *censusReader, args []string) error {
	switch {
	case len(args) != 2:
		return usagef("--compare needs two sources, not %d; write oid census --compare A B", len(args))
	case f.html != "":
		return usagef("--compare does not go with --html")
	case bool(f.asJSON) && f.ids:
		return usagef("--ids does not go with --json")
	}
	limitMemory(f.options.Memory)
	f.options.Memory /= 2 // for each
	a, b := census.New(&f.options), census.New(&f.options)
	defer a.Close()
	defer b.Close()
	for i, c := range []*census.Census{a, b} {
		if err := r.readAll(cmd.Context(), c, args[i:i+1]); err != nil {
			return err
		}
	}
	var list func(bool, objectid.ID, bool) error
	out := bufio.NewWriterSize(std.out, 1<<16)
	if f.ids {
		list = func(inA bool, id objectid.ID, isString bool) error {
			mark, text := "> ", id.String()
			if inA {
				mark = "< "
			}
			if isString {
				text = `"` + text + `"`
			}
			_, err := out.WriteString(mark + text + "\n")
			return err
		}
	}
	d, err := census.Compare(a, b, list)
	switch {
	case err != nil:
		return err
	case f.ids:
		err = out.Flush()
	default:
		err = f.asJSON.emit(std.out, towire.Difference(d), func(w io.Writer) error { return censusreport.WriteDifference(w, d, columnsOf(w)) })
	}
	for i, side := range []census.Side{d.A, d.B} {
		if (err == nil || err == errReported) && side.Unjudged != nil {
			std.warn("%s: no ids were compared: %v", nameOf(args[i]), side.Unjudged)
			err = errReported
		}
	}
	if err == nil && d.Broken() {
		err = errReported
	}
	return err
}
