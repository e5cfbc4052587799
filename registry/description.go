package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/hidden"
	"github.com/oidkit/oid/internal/otelresource"
)

// Description is what a process says of itself. Nothing proves it.
type Description struct {
	// Name, Version and Labels are as in [RegisterOptions].
	Name, Version string
	Labels        map[string]string
}

// checkDescription checks what a caller says about a process. The error wraps
// [ErrDescription] and names the first invalid text; labels are checked in the order of
// their names.
func checkDescription(name, version string, labels map[string]string) error {
	if err := cmp.Or(checkPrintable("name", name), checkPrintable("version", version)); err != nil {
		return err
	}
	if len(labels) > otelresource.MaxLabels {
		return fmt.Errorf("%w: %d labels, want up to %d", ErrDescription, len(labels), otelresource.MaxLabels)
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		value := labels[label]
		if label == "" || len(label) > otelresource.MaxLabelName || len(value) > otelresource.MaxLabelValue {
			return fmt.Errorf("%w: label %.50q: want a name of 1 to %d bytes and a value of up to %d", ErrDescription, label, otelresource.MaxLabelName, otelresource.MaxLabelValue)
		}
		what := fmt.Sprintf("of the label %.50q", label)
		if err := cmp.Or(checkPrintable("name "+what, label), checkPrintable("value "+what, value)); err != nil {
			return err
		}
	}
	return nil
}

// checkPrintable returns an error if text contains characters that people cannot see.
func checkPrintable(what, text string) error {
	if at := strings.IndexFunc(text, hidden.Unprintable); at >= 0 {
		return fmt.Errorf("%w: the %s has %U at offset %d, want printable characters", ErrDescription, what, []rune(text[at:])[0], at)
	}
	return nil
}

// printable replaces the characters that checkDescription refuses by question marks. It is
// for names of programs, which whoever starts a program chooses.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if hidden.Unprintable(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// ParseLabels reads labels of the form name=value. A text of another form is an error. If a
// name is repeated, its last value counts.
func ParseLabels(texts []string) (map[string]string, error) {
	all := make(map[string]string, len(texts))
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("registry: label %q: want NAME=VALUE", text)
		}
		all[name] = value
	}
	return all, nil
}

// RemoteOptionsOf returns options that describe a remote process as p is described. p may be
// the result of [Describe]. The options share the map p.Labels with p.
func RemoteOptionsOf(p *Process) RemoteOptions {
	return RemoteOptions{
		Name: p.Name, Host: p.Host, Version: p.Version, Labels: p.Labels, Interval: p.Interval,
		Kernel: p.Kernel, Program: p.Program, Executable: p.Executable, StartUnknown: p.StartUnknown,
	}
}

// describe copies the description in o, and its interval, to p.
func (o *RemoteOptions) describe(p *Process) (err error) {
	if p.Interval, err = checkInterval(o.Interval); err != nil {
		return err
	}
	p.Name, p.Host, p.Version, p.Labels = o.Name, o.Host, o.Version, maps.Clone(o.Labels)
	p.Kernel, p.Program, p.Executable, p.StartUnknown = o.Kernel, o.Program, o.Executable, o.StartUnknown
	return checkDescription(o.Name, o.Version, o.Labels)
}
