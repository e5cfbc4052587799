package towire

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// Links are templates of URLs, from which the links for an id are made. The zero value has
// none. Goroutines may share it.
type Links []link

type link struct{ name, url string }

var (
	linkForm    = pattern.Of(`^([\pL\pN][\pL\pN ._-]{0,39})=(https?://[\w.:[\]-]+(?:[/?#][!-~]*)?)$`)
	placeholder = pattern.Of(`\{[A-Za-z][\w./:+-]*\}`)
	timeForm    = pattern.Of(`^(from|to|time)([+-](?:\d+[hms])+)?(:(?:s|ms|us|ns))?$`)
)

// window is how long before and after the creation of an id from and to are.
const window = 5 * time.Minute

// unescaped are the characters of a template that a URL does not contain, or with which a
// terminal ends it.
var unescaped = strings.NewReplacer("{", "%7B", "}", "%7D", `"`, "%22", "<", "%3C", ">", "%3E", `\`, "%5C", "^", "%5E", "`", "%60", "|", "%7C")

// ParseLinks reads templates of the form NAME=URL. A placeholder of the URL, such as
// {k8s.pod.name}, is replaced by a value:
//
//   - id; gpid and pid: those of the process that created the id
//   - from and to: five minutes before and after the creation time of the id; time: the
//     creation time; time-1h, time+30m and the like: at another distance from it. All are in the
//     form of RFC 3339, in UTC. With :s, :ms, :us or :ns after them, they are a number of these
//     units since 1970.
//   - any other name: [registry.Process.Attribute]
//
// Braces around other characters are braces, as in the queries of many programs.
func ParseLinks(texts []string) (all Links, err error) {
	for _, text := range texts {
		m := linkForm.Get().FindStringSubmatch(text)
		if m == nil || strings.Count(text, "{") != strings.Count(text, "}") {
			return nil, fmt.Errorf("link %.80q: want NAME=URL, such as logs=https://logs.example/?pod={k8s.pod.name}; the URL has no blanks and no single braces, and no placeholder or user before the path", text)
		}
		if slices.ContainsFunc(all, func(l link) bool { return l.name == m[1] }) {
			return nil, fmt.Errorf("link %.80q: another link has the same name", text)
		}
		for _, p := range placeholder.Get().FindAllString(text, -1) {
			if strings.ContainsAny(p, ":+") && timeText(p[1:len(p)-1], time.Time{}) == "" {
				return nil, fmt.Errorf("link %.80q: %s is neither an attribute nor a time such as {from}, {to:ms} or {time-1h:s}", text, p)
			}
		}
		all = append(all, link{m[1], m[2]})
	}
	return all, nil
}

// timeText returns the text of a placeholder that is a time, for an id that was created at at.
// For another placeholder it is "".
func timeText(name string, at time.Time) string {
	m := timeForm.Get().FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	distance, _ := time.ParseDuration(m[2]) // 0 if there is none
	at = at.Add(distance + map[string]time.Duration{"from": -window, "to": window}[m[1]])
	if m[3] == "" {
		return at.Format(time.RFC3339)
	}
	return strconv.FormatInt(at.Unix()*map[string]int64{":s": 1, ":ms": 1e3, ":us": 1e6, ":ns": 1e9}[m[3]], 10)
}

// Of returns a link for each template, or why there is none. If no single process is known or
// claimed, there are only links for which none is needed. What a process says makes no link if
// it could change the meaning of a query.
func (l Links) Of(t *registry.Trace) []wire.Link {
	own, p, unknown := map[string]string{"id": t.ID.String()}, registry.Process{}, "it is not known which process created the id"
	if t.Verdict == registry.Known || t.Verdict == registry.Claimed {
		p, unknown = t.Processes[0].Process, ""
		own["gpid"], own["pid"] = p.GPID.String(), strconv.Itoa(p.GPID.PID())
	}
	return each.Of(l, func(l link) wire.Link {
		out := wire.Link{Name: l.name}
		address := placeholder.Get().ReplaceAllStringFunc(l.url, func(place string) string {
			name := place[1 : len(place)-1]
			value := cmp.Or(own[name], timeText(name, t.ID.Time()))
			if value == "" {
				value, _ = p.Attribute(name)
				if strings.ContainsFunc(value, harmful) || strings.Contains(value, "..") {
					out.Problem = cmp.Or(out.Problem, fmt.Sprintf("%s could change the meaning of the link: %q", name, value))
				}
			}
			if value == "" {
				out.Problem = cmp.Or(out.Problem, unknown, name+" is not known")
			}
			return url.QueryEscape(value)
		})
		if out.Problem == "" {
			out.URL = unescaped.Replace(address)
		}
		return out
	})
}

// harmful reports whether r could end a text or be an operator in a query language. The marks
// that are not harmful are those of pod names, versions and image names.
func harmful(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("-._~/:@+", r)
}
