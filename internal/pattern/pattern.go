// Package pattern compiles regular expressions late: most runs of the command use none of
// those in its packages.
package pattern

import (
	"regexp"
	"sync"
)

// Late returns a regular expression.
type Late = func() *regexp.Regexp

// Of returns a regular expression that is compiled when it is first used.
func Of(text string) Late {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
