package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

func newTraceCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "trace [ID...]",
		Short: "Tell which process made an id, and what it was doing",
		Long: `Tell which process made an ObjectId, when that process began and ended, and what
it used when it made the id. Ids come as arguments, or from standard input if there
are none or one is "-"; they are read as they are pasted, like those of oid inspect.

The verdict is "known" if one recorded process held the id's process value at the
id's time, "unknown" if none ever held it, "conflict" if the one that held it was
not running, and "collision" if several held it. Exit code 1 means that at least
one piece of the input was no ObjectId; the others are answered all the same.

` + registryHelp,
		Example: `  oid trace 6592008029c8c3e4dc76256c
  grep -o '[0-9a-f]\{24\}' app.log | oid trace --json | jq -r .verdict`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r, s, err := where.openRegistry(cmd.Context())
			if err != nil {
				return err
			}
			defer closing(s, &err)
			encoder := json.NewEncoder(std.out)
			bad, between := false, ""
			for found := range pasted(std, args) {
				id, err := objectid.ID{}, found.Err
				if err == nil {
					id, err = objectid.Parse(found.Text)
				}
				if err != nil {
					bad = true
					fmt.Fprintf(std.err, "oid: %s: %v\n", found.place(), err)
					continue
				}
				t, err := r.Trace(cmd.Context(), id)
				if err != nil {
					return err
				}
				if asJSON {
					err = encoder.Encode(t)
				} else {
					_, err = io.WriteString(std.out, between+traceText(t))
					between = "\n"
				}
				if err != nil {
					return err
				}
			}
			if bad {
				return errReported
			}
			return nil
		},
	}
	where.addFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per id, on a line each")
	return cmd
}

// traceText is a trace for people to read.
func traceText(t registry.Trace) string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "  %-9s %s\n", label, printable(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintf(&b, "%v  %s\n", t.ID, t.Verdict)
	line("born", "%s, %s", rfc3339(t.ID.Time()), ago(time.Now().Unix()-t.ID.Time().Unix()))
	if !t.Certain {
		line("why", "%s", t.Reason)
	}
	for _, p := range t.Processes {
		line("maker", "%s", strings.TrimSpace(p.Name+" "+p.Version))
		line("", "%v", p.GPID)
		if where := strings.TrimSpace(p.Host + " " + p.Executable); where != "" {
			line("on", "%s", where)
		}
		line("began", "%s", rfc3339(p.GPID.Start()))
		if p.End != nil {
			line("ended", "%s: %s", rfc3339(p.End.Time), p.Reason)
		} else {
			line("state", "%s: %s; last heartbeat %s", p.State, p.Reason, rfc3339(p.Last.Time))
		}
	}
	near := t.Before
	if near == nil || t.After != nil && t.After.Time.Sub(t.ID.Time()) < t.ID.Time().Sub(near.Time) {
		near = t.After
	}
	if near != nil {
		line("load", "%s (sampled %s)", loadText(near.Load, t.CPU), offset(near.Time.Sub(t.ID.Time())))
	}
	return b.String()
}

// offset says how far from the id a sample was taken; the id's time is a whole
// second.
func offset(d time.Duration) string {
	switch d = d.Truncate(time.Second); {
	case d < 0:
		return fmt.Sprintf("%v before", -d)
	case d > 0:
		return fmt.Sprintf("%v after", d)
	}
	return "in that second"
}
