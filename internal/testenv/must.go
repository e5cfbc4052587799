package testenv

import (
	"errors"
	"testing"
)

// Must takes the results of a call and returns a function that returns the value, or ends
// the test if the call failed:
//
//	text := testenv.Must(os.ReadFile(name))(t)
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// NoError ends the test if err is not nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantError fails the test if an error is not the one that a call should return; nil means
// none. what names the call.
func WantError(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// ErrOf returns the error of a call that returns a value too.
func ErrOf[T any](_ T, err error) error { return err }
