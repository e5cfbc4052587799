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
	root.Long = commandTable(root)
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

// commandTable returns what root does, and a table of its commands and topics.
func commandTable(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n", root.Short)
	table := func(title, of string, in func(*cobra.Command) bool) {
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, c := range root.Commands() {
			if in(c) {
				fmt.Fprintf(&b, "  %-20s %s\n", of+c.Name(), c.Short)
			}
		}
	}
	for _, g := range root.Groups() {
		table(strings.TrimSuffix(g.Title, ":"), "oid ", func(c *cobra.Command) bool { return c.GroupID == g.ID })
	}
	table("Also", "oid ", func(c *cobra.Command) bool { return c.GroupID == "" && c.IsAvailableCommand() })
	table("Topics", "oid help ", (*cobra.Command).IsAdditionalHelpTopicCommand)
	return b.String()
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
