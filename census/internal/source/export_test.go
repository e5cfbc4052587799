package source

import "io"

// Open returns the input of a source that is a single file, not a container.
func Open(in io.Reader, o Options) (s *Input, err error) {
	_ = Walk(in, o, func(_ string, input *Input, e error) error {
		s, err = input, e
		return nil
	})
	return s, err
}
