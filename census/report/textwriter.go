package report

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Screen is what a text report is written for. The zero Screen is 80 columns of
// UTF-8.
type Screen struct {
	// Columns is the width. Default: 80. Less than 40 counts as 40.
	Columns int
	// ASCII says that nothing but ASCII can be shown.
	ASCII bool
}

func (s Screen) withDefaults() Screen {
	if s.Columns == 0 {
		s.Columns = 80
	}
	s.Columns = max(s.Columns, 40)
	return s
}

type textWriter struct {
	*bufio.Writer
	screen Screen
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// cut returns text in at most n columns.
func cut(text string, n int) string {
	if uniseg.StringWidth(text) <= n {
		return text
	}
	for uniseg.StringWidth(text) >= n {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text + "~"
}

// wrapped writes text in lines that fit the screen, the first after first and
// the others after rest. A Chinese character takes two columns.
func (t *textWriter) wrapped(first, rest, text string) {
	prefix, line := first, ""
	for word := range strings.FieldsSeq(text) {
		if t.screen.ASCII {
			word = asASCII(word)
		}
		if line != "" && uniseg.StringWidth(prefix)+uniseg.StringWidth(line)+1+uniseg.StringWidth(word) > t.screen.Columns {
			t.printf("%s%s\n", prefix, line)
			prefix, line = rest, ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	t.printf("%s%s\n", prefix, line)
}

func asASCII(word string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, word)
}
