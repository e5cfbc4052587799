// Package each makes a list from the values of another one.
package each

// Of returns what f returns for each value of in, in their order. The list is never nil.
func Of[In, Out any](in []In, f func(In) Out) []Out {
	out := make([]Out, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}
