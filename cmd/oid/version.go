package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/server/wire"
)

func newVersionCommand(std streams) *cobra.Command {
	var asJSON jsonFlag
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			return asJSON.emit(std.out, v, textf("oid %s %s %s/%s\n", v.Version, v.Go, v.OS, v.Arch))
		},
	}
	asJSON.addFlag(cmd, jsonObject)
	return cmd
}

// version is set by the linker in a release.
var version string

// thisVersion reads what the Go toolchain recorded in the binary.
func thisVersion() wire.Version {
	v := wire.Version{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if version != "" {
		v.Version = version
	} else if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}
