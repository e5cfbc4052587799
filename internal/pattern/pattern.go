// Package pattern compiles regular expressions late: most runs of the command use none of
// those in its packages.
package pattern

import (
	"regexp"
	"sync"
)

// Late is a regular expression that is compiled when it is first used. Goroutines may share
// it.
type Late struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// Of returns a regular expression. The compiler lays out a package's variable of it, so that
// the program's start does nothing for it.
func Of(text string) *Late { return &Late{text: text} }

// Get returns the compiled expression.
func (l *Late) Get() *regexp.Regexp {
	l.once.Do(func() { l.compiled = regexp.MustCompile(l.text) })
	return l.compiled
}
