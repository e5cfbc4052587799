package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

// Each kind of error has a name of its own, a status of errors, and a place in the
// reference to which its URI leads.
func TestProblemTypes(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range problemTypes {
		if seen[p.name] || p.status < 400 || p.about == "" || !strings.Contains(string(page), "\n### "+p.name+"\n\n"+fmt.Sprint(p.status)+". "+p.about+"\n") {
			t.Errorf("%+v", p)
		}
		seen[p.name] = true
		for _, e := range p.errors {
			if got := typeOf(fmt.Errorf("about it: %w", e)); got.name != p.name {
				t.Errorf("%v is %s, want %s", e, got.name, p.name)
			}
		}
	}
	if got := typeOf(errors.New("unheard of")); got.name != "internal" {
		t.Errorf("an unknown error is %s", got.name)
	}
	if got := typeOfStatus(418); got.name != "internal" {
		t.Errorf("an unknown status is %s", got.name)
	}
}

// What is wrong with a request is its sender's to hear, and what is wrong with the place
// that is called only that it does not answer.
func TestCallWithin(t *testing.T) {
	silent := errors.New("silent")
	c := &caller{"test", 50 * time.Millisecond, semaphore.NewWeighted(1), slog.New(slog.DiscardHandler), silent}
	for _, test := range []struct{ fails, want error }{
		{nil, nil},
		{fmt.Errorf("%w: %q", store.ErrCollection, "a$"), store.ErrCollection},
		{store.ErrNotFound, store.ErrNotFound},
		{store.ErrMoved, silent},
		{errors.New("connection refused"), silent},
	} {
		n, err := callWithin(t.Context(), c, "test", func(context.Context) (int, error) { return 7, test.fails })
		if !errors.Is(err, test.want) || err == nil && n != 7 {
			t.Errorf("%v: %d, %v", test.fails, n, err)
		}
	}
	release := make(chan struct{})
	hang := func(context.Context) (int, error) { <-release; return 7, nil }
	for range 2 { // the first hangs, and the second gets no slot
		if _, err := callWithin(t.Context(), c, "test", hang); !errors.Is(err, silent) {
			t.Errorf("a call that hangs: %v", err)
		}
	}
	close(release)
	c.limit = time.Minute
	if n, err := callWithin(t.Context(), c, "test", hang); n != 7 || err != nil {
		t.Errorf("afterwards: %d, %v", n, err)
	}
}

func TestPlainError(t *testing.T) {
	for field, want := range map[string]string{"": "expected a smaller number, not number 1e400", "a.b": "a.b: expected a smaller number, not number 1e400"} {
		err := plainError(&json.UnmarshalTypeError{Value: "number 1e400", Type: reflect.TypeFor[float64](), Field: field})
		if err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for text, want := range map[string]string{
		"expected number <= 1e+07": "expected number <= 10000000", "expected number >= 0.5": "expected number >= 0.5",
		"expected number": "expected number", "unexpected 1e+07": "unexpected 1e+07",
	} {
		if got := plainNumber(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := phrase.Excerpt("aéb", 2); got != "a…" {
		t.Errorf("a cut in a character: %q", got)
	}
}

// The enumerations of the API are those of the packages that know them.
func TestEnumerations(t *testing.T) {
	tagOf := func(of reflect.Type, field string) string {
		f, ok := of.FieldByName(field)
		if !ok {
			t.Fatalf("%v has no field %s", of, field)
		}
		return f.Tag.Get("enum")
	}
	for name, test := range map[string]struct{ got, want string }{
		"state of a process":  {tagOf(reflect.TypeFor[wire.Process](), "State"), names(registry.States())},
		"states to list":      {tagOf(reflect.TypeFor[listInput](), "State"), names(registry.States())},
		"verdict on an id":    {tagOf(reflect.TypeFor[wire.Trace](), "Verdict"), names(registry.Verdicts())},
		"evidence":            {tagOf(reflect.TypeFor[wire.Adopted](), "Evidence"), names(registry.Evidences())},
		"verdict, reading":    {tagOf(reflect.TypeFor[wire.Reading](), "Verdict"), names(inspect.Verdicts())},
		"format, reading":     {tagOf(reflect.TypeFor[wire.Reading](), "Format"), names(inspect.Formats())},
		"format of a source":  {tagOf(reflect.TypeFor[wire.CensusSource](), "Format"), names(append(census.Formats(), census.FormatTable))},
		"format of an upload": {tagOf(reflect.TypeFor[censusInput](), "Format"), names(census.Formats())},
		"step of a timeline":  {tagOf(reflect.TypeFor[wire.Timeline](), "By"), names(census.Intervals())},
		"step to use":         {tagOf(reflect.TypeFor[censusInput](), "By"), names(census.Intervals())},
		"kind of a finding":   {tagOf(reflect.TypeFor[wire.Finding](), "Kind"), names(census.Kinds())},
		"layout of samples":   {tagOf(reflect.TypeFor[wire.AddedEvidence](), "Layout"), names(objectid.Layouts())},
		"layout, registering": {tagOf(reflect.TypeFor[wire.Registration](), "Layout"), names(objectid.Layouts())},
		"layout, inspecting":  {tagOf(reflect.TypeFor[inspectInput](), "Layout"), names(objectid.Layouts())},
	} {
		if test.got != test.want {
			t.Errorf("%s: enum %q, want %q: write it into the tag of the field", name, test.got, test.want)
		}
	}
}

func names[E any](values []E) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ",")
}
