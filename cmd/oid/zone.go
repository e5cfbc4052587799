package main

import (
	"errors"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // for hosts without a database of zones

	"github.com/spf13/cobra"
)

// zone is the flag --tz: the zone in which a command prints times, and reads those
// without a zone. JSON is in UTC, except in a census. By default it is that of the environment
// variable TZ, or else UTC.
type zone struct{ chosen *time.Location }

// zoneHelp is the paragraph of "oid help times" about the flag.
const zoneHelp = `Times are printed in the zone of --tz or of the environment variable TZ, without
either in UTC; in JSON in UTC, except in a census. A ZONE is a name such as Asia/Shanghai,
an offset such as +08:00, or local.`

func (z *zone) addFlag(cmd *cobra.Command) {
	cmd.Flags().Var(z, "tz", "time `ZONE` such as Asia/Shanghai (default TZ, or UTC)")
}

func (z *zone) String() string {
	if z.chosen == nil {
		return ""
	}
	return z.chosen.String()
}

func (z *zone) Type() string { return "ZONE" }

// Set reads the name of a zone or an offset from UTC.
func (z *zone) Set(name string) error {
	if strings.EqualFold(name, "local") {
		z.chosen = time.Local
		return nil
	}
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		z.chosen = time.FixedZone(name, offset)
		return nil
	}
	l, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return errors.New("no such time zone; want the name of a zone such as Europe/Berlin, an offset such as +08:00, or local")
	}
	z.chosen = l
	return nil
}

func (z *zone) location() *time.Location {
	switch {
	case z.chosen != nil:
		return z.chosen
	case os.Getenv("TZ") != "":
		return time.Local
	}
	return time.UTC
}

// now returns the time, in the zone.
func (z *zone) now() time.Time { return time.Now().In(z.location()) }

// text returns a time as the command prints it for people.
func (z *zone) text(t time.Time) string { return t.In(z.location()).Format(time.RFC3339Nano) }
