package page

import (
	"net/url"
	"slices"
	"strings"
)

// fragments are the views of the static page: the path of each on the server, its name in a
// fragment, and the parameter whose value follows the name and an equals sign.
var fragments = []fragmentName{
	{"/", "id", "id"},
	{"/range", "range", "since"},
	{"/odds", "odds", "processes"},
	{"/census", "census", ""},
	{"/new", "new", "count"},
}

type fragmentName struct{ path, name, first string }

// plain writes a space as %20, because a plus sign in a fragment is a plus sign. Colons stay
// readable.
var plain = strings.NewReplacer("+", "%20", "%3A", ":")

// fragment returns the fragment of the static page for a path on the server with its query.
// [Address] is its inverse. If the static page has no such view, the fragment is that of the
// start page. Mail programs and chats recognize the whole fragment as part of a link: it has no
// space, quote or parenthesis, and does not end with a full stop.
func fragment(address string) string {
	path, q := Address(address)
	i := slices.IndexFunc(fragments, func(f fragmentName) bool { return f.path == path })
	if i < 0 || i == 0 && len(q) == 0 {
		return "#"
	}
	out, first := "#"+fragments[i].name, fragments[i].first
	switch from, to := q.Get("from"), q.Get("to"); {
	case q.Has(first):
		out += "=" + url.QueryEscape(q.Get(first))
		q.Del(first)
	case path == "/range" && from+to != "":
		out += "=" + url.QueryEscape(from) + "/" + url.QueryEscape(to)
		q.Del("from")
		q.Del("to")
	}
	if len(q) > 0 {
		out += "&" + q.Encode()
	}
	if out = plain.Replace(out); strings.HasSuffix(out, ".") {
		out = out[:len(out)-1] + "%2E"
	}
	return out
}

// Address splits an address into the path on the server and the query. The address is either a
// path with a query, or a fragment of the static page, such as
// #range=2026-11-01/2026-12-01&column=id.
//
// In a fragment, values are percent-encoded, and a plus sign means itself. The first value has
// no name of its own. In #id it is the text with ids, in #odds the number of processes, and in
// #range a duration up to now, or both ends of the range. A fragment that names no view is a
// text with ids. If a question mark follows the name of the view, the rest is the query of a
// form, in which a plus sign means a space. Empty parameters are left out; of a parameter that
// is there twice, the first value counts.
func Address(address string) (path string, q url.Values) {
	text, isFragment := strings.CutPrefix(address, "#")
	end := strings.IndexAny(text+"?", "?=&")
	path, query, unescape := text[:end], text[end:], url.QueryUnescape
	if isFragment {
		i := slices.IndexFunc(fragments, func(f fragmentName) bool { return f.name == path })
		if i < 0 && path != "" {
			query = "=" + strings.ReplaceAll(text, "&", "%26")
		}
		f := fragments[max(i, 0)]
		path = f.path
		if !strings.HasPrefix(query, "?") {
			unescape = url.PathUnescape
			first, others, _ := strings.Cut(strings.TrimPrefix(query, "="), "&")
			if from, to, isRange := strings.Cut(first, "/"); isRange && f.name == "range" {
				first = "from=" + from + "&to=" + to
			} else {
				first = f.first + "=" + first
			}
			query = first + "&" + others
		}
	}
	q = url.Values{}
	for part := range strings.SplitSeq(strings.TrimPrefix(query, "?"), "&") {
		name, value, _ := strings.Cut(part, "=")
		if text, err := unescape(value); err == nil { // else a percent sign that escapes nothing
			value = text
		}
		if name != "" && value != "" && !q.Has(name) {
			q.Set(name, value)
		}
	}
	return path, q
}
