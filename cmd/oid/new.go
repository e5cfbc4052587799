package main

import (
	"github.com/spf13/cobra"

	"github.com/oidkit/oid/objectid"
)

func newNewCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make ids",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := std.out.Write([]byte(objectid.New().String() + "\n"))
			return err
		},
	}
	return cmd
}
