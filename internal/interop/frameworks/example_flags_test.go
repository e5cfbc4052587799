package frameworks

import (
	"github.com/spf13/cobra"
	"github.com/urfave/cli/v3"

	"github.com/oidkit/oid/objectid"
)

func cobraCommand(id *objectid.ID) *cobra.Command {
	command := &cobra.Command{Use: "shop", SilenceUsage: true, SilenceErrors: true, Run: func(*cobra.Command, []string) {}}
	command.Flags().TextVar(id, "id", objectid.ID{}, "the id of the order")
	return command
}

func cliFlag(id *objectid.ID) cli.Flag {
	return &cli.TextFlag{Name: "id", Value: id, Usage: "the id of the order"}
}
