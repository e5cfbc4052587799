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

// columnsOf returns the width of out if it is a terminal, or else the number in the
// variable COLUMNS, or 0.
func columnsOf(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	columns, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return max(columns, 0)
}

// report writes the report of c in the form that the flags choose.
func (f *censusFlags) report(std streams, c *census.Census, o *census.ReportOptions) error {
	r, err := c.Report(o)
	if err == nil {
		unknown := false
		for _, s := range r.Sources {
			unknown = unknown || strings.HasPrefix(s.Error, census.ErrFormat.Error())
			if s.Error = phrase.Plain(s.Error); s.Error != "" && s.Error != r.Partial {
				std.warn("%s: %s", s.Name, s.Error) // also where the report goes to a file or a pipe
			}
		}
		if unknown {
			std.warn("hint: --format names the format of the sources, --column the column of CSV; --grep reads any text but UTF-16")
		}
	}
	switch {
	case errors.Is(err, census.ErrTooFine):
		return usageError{err}
	case err != nil:
		return err
	case f.html != "":
		if r.IDs == 0 && r.Broken() {
			return errReported // an empty report must not replace another
		}
		err = writeFile(std.out, f.html, func(w io.Writer) error { return censusreport.WriteHTML(w, r) })
	default:
		err = f.asJSON.emit(std.out, towire.Census(r), func(w io.Writer) error { return censusreport.WriteText(w, r, columnsOf(w)) })
	}
	if err == nil && r.Broken() {
		err = errReported
	}
	return err
}

// checkFile returns an error if the file path cannot be written, or if it is one of
// sources. Sources that are not files are ignored.
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
			return fmt.Errorf("it is the source %s", source)
		}
	}
	return nil
}

// writeFile writes what write writes to the file path, or to stdout if path is "-".
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

// compare carries out oid census --compare.
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
	var list func(bool, objectid.ID) error
	out := bufio.NewWriterSize(std.out, 1<<16)
	if f.ids {
		list = func(inA bool, id objectid.ID) error {
			mark := "> "
			if inA {
				mark = "< "
			}
			_, err := out.WriteString(mark + id.String() + "\n")
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
	if err == nil && d.Broken() {
		err = errReported
	}
	return err
}
