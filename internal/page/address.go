package page

import (
	"maps"
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

// plus writes a space as %20, because a plus sign in a fragment is a plus sign. A colon stays
// readable.
var plus = strings.NewReplacer("+", "%20", "%3A", ":")

// escaped writes a value for a fragment so that a link survives e-mail and chats: these end a
// link at a space, a quote, a parenthesis, or before a full stop at its end.
func escaped(value string) string {
	value = plus.Replace(url.QueryEscape(value))
	if before, ok := strings.CutSuffix(value, "."); ok {
		return before + "%2E"
	}
	return value
}

// unescaped reads a value of a fragment. A value that somebody typed with a percent sign that
// escapes nothing means itself.
func unescaped(value string) string {
	if text, err := url.PathUnescape(value); err == nil {
		return text
	}
	return value
}

// fragment returns the fragment of the static page for a path on the server with its query.
// [Address] is its inverse. It returns the fragment of the start page if the static page has
// no such view.
func fragment(address string) string {
	path, q := Address(address)
	i := slices.IndexFunc(fragments, func(f fragmentName) bool { return f.path == path })
	if i < 0 || i == 0 && len(q) == 0 {
		return "#"
	}
	f := fragments[i]
	out := "#" + f.name
	switch from, to := q.Get("from"), q.Get("to"); {
	case q.Has(f.first):
		out += "=" + escaped(q.Get(f.first))
		q.Del(f.first)
	case f.name == "range" && from+to != "":
		out += "=" + escaped(from) + "/" + escaped(to)
		q.Del("from")
		q.Del("to")
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		out += "&" + escaped(name) + "=" + escaped(q.Get(name))
	}
	return out
}

// Address returns the path on the server and the query of an address. An address is a
// fragment of the static page, such as #range=2026-11-01/2026-12-01&column=id, or path and
// query themselves. In a fragment, the values are percent-encoded, a plus sign is one, and the
// first value needs no name: it is the text with ids, a duration up to now or the two ends of
// a range, or a number of processes. A form that is sent writes its query after a question
// mark. A fragment that names no view is a text with ids. Empty parameters are left out.
func Address(address string) (path string, q url.Values) {
	text, isFragment := strings.CutPrefix(address, "#")
	end := strings.IndexAny(text, "?=&")
	if end < 0 {
		end = len(text)
	}
	name, rest := text[:end], text[end:]
	if !isFragment {
		path, query, _ := strings.Cut(address, "?")
		return path, filled(query)
	}
	i := slices.IndexFunc(fragments, func(f fragmentName) bool { return f.name == name })
	if query, sent := strings.CutPrefix(rest, "?"); sent && (i >= 0 || name == "") {
		return fragments[max(i, 0)].path, filled(query)
	}
	q = url.Values{}
	set := func(name, value string) {
		if value != "" && !q.Has(name) {
			q.Set(name, value)
		}
	}
	if i < 0 {
		set("id", unescaped(text))
		return "/", q
	}
	f := fragments[i]
	for i, part := range strings.Split(rest, "&") {
		name, value, _ := strings.Cut(part, "=")
		from, to, isRange := strings.Cut(value, "/")
		switch {
		case i > 0:
			set(unescaped(name), unescaped(value))
		case f.name == "range" && isRange:
			set("from", unescaped(from))
			set("to", unescaped(to))
		case f.first != "":
			set(f.first, unescaped(value))
		}
	}
	return f.path, q
}

// filled reads a query, without the parameters that are empty.
func filled(query string) url.Values {
	q, _ := url.ParseQuery(query) // what cannot be read is left out, as by net/http
	for name := range q {
		if q[name] = q[name][:1]; q[name][0] == "" {
			delete(q, name)
		}
	}
	return q
}
