// Package pattern compiles regular expressions late: most runs of the command use none of
// those in its packages.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a regular expression that is compiled when it is first used.
func Of(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
