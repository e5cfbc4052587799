package towire

import (
	"reflect"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// loadFields are the indices of the fields of wire.Load, in the order of
// registry.LoadFields. Their names in JSON are the same.
var loadFields = func() (of [len(registry.LoadFields)]int) {
	for j, field := range reflect.VisibleFields(reflect.TypeFor[wire.Load]()) {
		for i := range of {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == registry.LoadFields[i].Name {
				of[i] = j
			}
		}
	}
	return of
}()

// Load returns l without what was not measured.
func Load(l registry.Load) (out wire.Load) {
	v := reflect.ValueOf(&out).Elem()
	for i, f := range registry.LoadFields {
		n := *f.Of(&l)
		switch field := v.Field(loadFields[i]); {
		case n < 0:
		case f.Unit == registry.Nanoseconds:
			field.Set(reflect.ValueOf(new(time.Duration(n).Seconds())))
		default:
			field.Set(reflect.ValueOf(&n))
		}
	}
	return out
}

// FromLoad returns l with registry.Unmeasured for what is absent.
func FromLoad(l wire.Load) (out registry.Load) {
	v := reflect.ValueOf(&l).Elem()
	for i, f := range registry.LoadFields {
		to := f.Of(&out)
		*to = registry.Unmeasured
		switch n := v.Field(loadFields[i]).Interface().(type) {
		case *int64:
			if n != nil {
				*to = *n
			}
		case *float64:
			if n != nil {
				*to = int64(*n * float64(time.Second))
			}
		}
	}
	return out
}

// LoadTexts returns the numbers of l for people, as "memory 11 MiB" and "13 files",
// without what was not measured and without times that the process has used.
func LoadTexts(l registry.Load) (out []string) {
	for _, f := range registry.LoadFields {
		switch n := *f.Of(&l); {
		case n < 0 || f.Unit == registry.Nanoseconds:
		case f.Unit == registry.Bytes:
			out = append(out, f.Title+" "+humanize.IBytes(uint64(n)))
		default:
			out = append(out, phrase.Count(n, strings.TrimSuffix(f.Title, "s"), f.Title))
		}
	}
	return out
}
