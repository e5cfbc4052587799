package report

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
)

// WriteDifference writes d as text for a terminal. The error is w's.
func WriteDifference(w io.Writer, d *census.Difference, s Screen) error {
	t := &textWriter{bufio.NewWriter(w), s.withDefaults()}
	for _, side := range []census.Side{d.A, d.B} {
		for _, s := range side.Sources {
			if listed(s) {
				t.sources([]sourceLine{describe(s, len(s.Problems))})
			}
		}
	}
	t.printf("\nin both   %s", phrase.Count(d.Both, "id", "ids"))
	if d.ValuesBoth > 0 {
		t.printf(", %s", phrase.Count(d.ValuesBoth, "value of another type", "values of other types"))
	}
	t.printf("\n")
	t.side("only in A", d.A)
	t.side("only in B", d.B)
	return t.Flush()
}

func (t *textWriter) side(name string, s census.Side) {
	t.printf("%s %s", name, phrase.Count(s.Only, "id", "ids"))
	if s.ValuesOnly > 0 {
		t.printf(", %s", phrase.Count(s.ValuesOnly, "value of another type", "values of other types"))
	}
	t.printf("\n")
	if s.First != nil {
		t.wrapped("    ", "      ", fmt.Sprintf("created %s to %s", s.First.Format(time.DateTime), s.Last.Format(time.DateTime)))
	}
	for _, e := range s.Examples {
		t.example(e, time.UTC)
	}
	for _, p := range s.ValueExamples {
		t.wrapped("    ", "      ", clean(p.String()))
	}
}
