package main

import (
	"os"
	"github.com/spf13/cobra"

	"github.com/oidkit/oid/census"
)

func newCensusCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use: "census SOURCE...",
		RunE: func(cmd *cobra.Command, args []string) error {
			c := census.New(nil)
			for _, a := range args {
				f, err := os.Open(a)
				if err != nil { return err }
				c.Read(cmd.Context(), a, f)
			}
			r, err := c.Report(nil)
			if err != nil { return err }
			return r.WriteText(std.out, census.Screen{})
		},
	}
}
