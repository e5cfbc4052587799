package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

const pruneHelp = `Delete the load samples of processes that ended more than --samples ago, and the
records of processes whose last heartbeat was more than --records ago. Processes that
are alive keep their records. A process block is never given to another process, so
ids of processes whose records were deleted can still be traced. "oid serve" prunes
once an hour.`

func newPruneCommand(std streams) *cobra.Command {
	var (
		where            storeFlag
		samples, records string
		asJSON           jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old records of processes",
		Long:  pruneHelp,
		Example: `  oid prune
  oid prune --samples 1d --records 90d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			var keep registry.PruneOptions
			if keep.Samples, err = positive("--samples", samples); err != nil {
				return err
			}
			if keep.Records, err = positive("--records", records); err != nil {
				return err
			}
			return using(cmd.Context(), where.openToDelete, func(s store.Store) error {
				done, err := where.registry(s).Prune(cmd.Context(), &keep)
				if err != nil {
					return err
				}
				return asJSON.emit(std.out, wire.Pruned{Samples: done.Samples, Processes: done.Records},
					textf("deleted %d samples and %d records\n", done.Samples, done.Records))
			})
		},
	}
	where.addFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&samples, "samples", "7d", "keep load samples for this `DURATION` after their process ended, such as 36h or 7d")
	f.StringVar(&records, "records", "365d", "keep records for this `DURATION` after the last heartbeat")
	asJSON.addFlag(cmd, jsonObject)
	return cmd
}

// positive reads a duration greater than 0.
func positive(flag, s string) (time.Duration, error) {
	d, err := timerange.Duration(s, time.Now())
	if err != nil || d <= 0 {
		return 0, usagef("%s %q: want a duration such as 36h or 7d", flag, s)
	}
	return d, nil
}
