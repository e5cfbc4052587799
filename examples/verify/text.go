package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/oidkit/oid/examples/verify/internal/judge"
	"github.com/oidkit/oid/internal/phrase"
)

// writeText writes a judgement for people. failed are the promises that are broken
// and must not be.
func writeText(w io.Writer, v judge.Verification, failed []string) error {
	var b strings.Builder
	one, many := "id", "ids"
	if strings.HasPrefix(v.Test, "decode") {
		one, many = "answer", "answers"
	}
	b.WriteString(phrase.Count(v.IDs, one, many))
	if v.IDs < v.Wanted {
		fmt.Fprintf(&b, " (and not %s as wanted)", phrase.Count(v.Wanted, "id", "ids"))
	}
	fmt.Fprintf(&b, " of %s in %.1f s", phrase.Count(int64(v.Processes), "process", "processes"), v.TookSeconds)
	if v.Clock != "" {
		fmt.Fprintf(&b, ", clock %s", v.Clock)
	}
	for _, p := range v.Promises {
		state := map[string]string{"holds": "holds", "broken": "BROKEN", "cannot-tell": "cannot tell"}[p.State]
		if p.Allowed {
			state = "allowed"
		}
		fmt.Fprintf(&b, "\n  %-12s %s", state, p.Text)
		if p.Times > 0 {
			fmt.Fprintf(&b, " (%s)", phrase.Count(p.Times, "time", "times"))
			for _, line := range []string{p.Cause, p.Example, p.Meaning} {
				fmt.Fprintf(&b, "\n  %-12s %s", "", phrase.Shown(line))
			}
		} else if p.Cause != "" {
			fmt.Fprintf(&b, ": %s", p.Cause)
		}
	}
	if v.Holds {
		b.WriteString("\nno promise is broken\n")
	} else {
		fmt.Fprintf(&b, "\n%s broken: %s\n", phrase.Count(int64(len(failed)), "promise is", "promises are"), strings.Join(failed, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
