package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/xhit/go-str2duration/v2"

	"github.com/oidkit/oid/registry"
)

func newPruneCommand(std streams) *cobra.Command {
	var (
		where            storeFlag
		samples, records string
		asJSON           bool
	)
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old records of processes",
		Long: `Delete the samples of processes that are older than --samples, and the records
of processes whose last heartbeat is older than --records. Processes that are alive
keep their record. Blocks of process values stay claimed for ever, so that they
are never given away again, and ids made with them are still traced.

` + registryHelp,
		Example: `  oid prune
  oid prune --samples 1d --records 90d`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			var keep registry.PruneOptions
			if keep.Samples, err = positive("--samples", samples); err != nil {
				return err
			}
			if keep.Records, err = positive("--records", records); err != nil {
				return err
			}
			s, err := where.openToDelete(cmd.Context())
			if err != nil {
				return err
			}
			defer closing(s, &err)
			done, err := registry.New(s, &registry.Options{OneHost: onlyHere(s)}).Prune(cmd.Context(), &keep)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(std.out).Encode(done)
			}
			_, err = fmt.Fprintf(std.out, "deleted %d samples and %d records\n", done.Samples, done.Records)
			return err
		},
	}
	where.addFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&samples, "samples", "7d", "how long samples are kept, a `DURATION` such as 36h or 7d")
	f.StringVar(&records, "records", "365d", "how long records are kept after the last heartbeat, a `DURATION`")
	f.BoolVar(&asJSON, "json", false, "write one JSON object")
	return cmd
}

// positive reads a duration above 0.
func positive(flag, s string) (time.Duration, error) {
	d, err := str2duration.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, usagef("%s %q: want a duration such as 36h or 7d", flag, s)
	}
	return d, nil
}
