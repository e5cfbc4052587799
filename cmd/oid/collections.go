package main

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func newCollectionsCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "collections",
		Short: "List the collections of a store",
		Long:  "List the names of the collections of a store, one per line.\n\n" + storeHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := where.openToRead(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			names, err := s.Collections(cmd.Context())
			if err != nil {
				return err
			}
			out := bufio.NewWriter(std.out)
			for _, name := range names {
				if asJSON {
					err = json.NewEncoder(out).Encode(struct {
						Collection string `json:"collection"`
					}{name})
				} else {
					_, err = fmt.Fprintln(out, name)
				}
				if err != nil {
					return err
				}
			}
			return out.Flush()
		},
	}
	where.addFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, `write {"collection": NAME} for each`)
	return cmd
}
