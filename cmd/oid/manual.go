//go:build manual

package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// With the tag "manual" this is a program that writes the manual pages into a folder:
// "go run -tags manual ./cmd/oid FOLDER VERSION". Their date is that of the variable
// SOURCE_DATE_EPOCH, or today.
func init() {
	root, _ := newRoot(streams{in: os.Stdin, out: io.Discard, err: io.Discard})
	root.DisableAutoGenTag = true
	root.Long = root.Short + ".\n\n" + root.UsageString()
	asMarkdown(root)
	header := doc.GenManHeader{Section: "1", Source: "oid " + os.Args[2], Manual: "User commands"}
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() { // which GenManTree leaves out
			c.Run, c.DisableFlagsInUseLine = func(*cobra.Command, []string) {}, true
		}
	}
	if err := doc.GenManTree(root, &header, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// asMarkdown marks the indented lines in the texts of c and its subcommands as tables
// that are not to be wrapped.
func asMarkdown(c *cobra.Command) {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(c.Long) {
		if indented := strings.HasPrefix(line, "  "); indented != inside && strings.TrimSpace(line) != "" {
			b.WriteString("```\n")
			inside = indented
		}
		b.WriteString(line)
	}
	if inside {
		b.WriteString("\n```\n")
	}
	c.Long = b.String()
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}
