package phrase

import "github.com/oidkit/oid/internal/pattern"

// packagePrefix matches the name of a package in front of its error.
var packagePrefix = pattern.Of(`(^|: |\n)(?:objectid|gpid|inspect|paste|timerange|census|store|memstore|sqlitestore|mongostore|pgstore|registry|lock|redislock|filelock|storelock|server|sealed): `)

// Plain returns the text of an error without the names of packages, which do not help
// those who use a program.
func Plain(text string) string {
	for packagePrefix().MatchString(text) {
		text = packagePrefix().ReplaceAllString(text, "$1")
	}
	return text
}
