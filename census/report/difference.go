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
				t.sources([]sourceLine{describe(s)})
			}
		}
	}
	t.printf("\nin both   %s\n", phrase.Count(d.Both, "id", "ids"))
	t.side("only in A", d.A)
	t.side("only in B", d.B)
	return t.Flush()
}

func (t *textWriter) side(name string, s census.Side) {
	t.printf("%s %s\n", name, phrase.Count(s.Only, "id", "ids"))
	if s.First != nil {
		t.wrapped("    ", "      ", fmt.Sprintf("created %s to %s", s.First.Format(time.DateTime), s.Last.Format(time.DateTime)))
	}
	for _, e := range s.Examples {
		t.example(e, time.UTC)
	}
	if s.Others > 0 {
		t.printf("    %s not compared\n", phrase.Count(s.Others, "value of another type was", "values of other types were"))
	}
}
