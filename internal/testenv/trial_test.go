package testenv

import (
	"slices"
	"testing"
)

func TestTrial(t *testing.T) {
	var cleaned []string
	for name, test := range map[string]struct {
		run  func(t testing.TB)
		want []string
	}{
		"passes":    {func(t testing.TB) { t.Helper(); t.TempDir() }, nil},
		"goes on":   {func(t testing.TB) { t.Error("a", 1); t.Errorf("b%d", 2) }, []string{"a1", "b2"}},
		"ends":      {func(t testing.TB) { t.Fatal("a"); t.Error("not reached") }, []string{"a"}},
		"panics":    {func(testing.TB) { panic("oh") }, []string{"panic: oh"}},
		"fails now": {func(t testing.TB) { t.FailNow() }, []string{"Fail was called"}},
		"cleans up": {func(t testing.TB) {
			t.Cleanup(func() { cleaned = append(cleaned, "first"); t.Fatalf("%t", t.Failed()) })
			t.Cleanup(func() { cleaned = append(cleaned, "second"); t.Error(t.Context().Err()) })
			cleaned = append(cleaned, "test")
		}, []string{"context canceled", "true"}},
	} {
		if got := Trial(t, test.run); !slices.Equal(got, test.want) {
			t.Errorf("a test that %s failed with %q, want %q", name, got, test.want)
		}
	}
	if want := []string{"test", "second", "first"}; !slices.Equal(cleaned, want) {
		t.Errorf("the test and its cleanup ran in the order %q, want %q", cleaned, want)
	}
}
