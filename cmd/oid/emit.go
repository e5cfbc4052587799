package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// jsonFlag is the flag --json.
type jsonFlag bool

// Help texts of the flag.
const (
	jsonObject  = "write one JSON object"
	jsonObjects = "write JSON, one object per line"
)

func (j *jsonFlag) addFlag(cmd *cobra.Command, help string) {
	cmd.Flags().BoolVar((*bool)(j), "json", false, help)
}

// emit writes one result to w: value as one line of JSON, or text for people.
func (j jsonFlag) emit(w io.Writer, value any, text func(io.Writer) error) error {
	if !j {
		return text(w)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// textf returns a text for emit.
func textf(format string, args ...any) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format, args...)
		return err
	}
}
