package main

import (
	"strings"
	"unicode"
)

// printable returns s without what could move the cursor of a terminal or break
// a table: processes choose their names themselves.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
