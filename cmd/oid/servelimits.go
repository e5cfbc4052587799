package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/oidkit/oid/server"
)

// limitFlags are the flags for server.Limits.
type limitFlags struct {
	values server.Limits
}

func newLimitFlags() *limitFlags { return &limitFlags{server.DefaultLimits()} }

func (l *limitFlags) add(f *pflag.FlagSet) {
	v := &l.values
	v.PerAddress = 0 // depends on Connections
	f.IntVar(&v.Connections, "max-connections", v.Connections, "connections that may be open; beyond, the one that waits longest for its client is closed, or the new one")
	f.IntVar(&v.PerAddress, "max-connections-per-address", 0, "connections from one client address (default a quarter of --max-connections)")
	f.IntVar(&v.Requests, "max-requests", v.Requests, "requests worked on at the same time; more wait a moment")
	f.Var(sizeFlag{&v.Memory}, "max-memory", "memory that all requests and uploads together may take")
	f.Var(sizeFlag{&v.Body}, "max-body", "size of a request body that is not an upload")
	f.IntVar(&v.Uploads, "max-uploads", v.Uploads, "uploads at the same time")
	f.Var(sizeFlag{&v.Upload}, "max-upload", "size of an upload, as sent")
	f.Var(sizeFlag{&v.Unpacked}, "max-unpacked", "size of an upload after it was unpacked")
}

// sizeFlag is a flag for a number of bytes, such as 64MiB.
type sizeFlag struct{ bytes *int64 }

// String implements pflag.Value.
func (s sizeFlag) String() string {
	if s.bytes == nil {
		return ""
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(*s.bytes)), " ", "")
}

// Set implements pflag.Value.
func (s sizeFlag) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<50 {
		return fmt.Errorf("want a size such as 64MiB")
	}
	*s.bytes = int64(n)
	return nil
}

// Type implements pflag.Value.
func (sizeFlag) Type() string { return "SIZE" }
