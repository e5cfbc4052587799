// Package towire translates the values of the other packages into the JSON types
// of package server/wire, for the server and for the command's --json.
package towire

// each returns f of each element of in; never nil.
func each[In, Out any](in []In, f func(In) Out) []Out {
	out := make([]Out, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}
