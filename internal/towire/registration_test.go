package towire_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store/memstore"
)

// fill gives each field of the struct v another value.
func fill(t *testing.T, v reflect.Value, n *int64) {
	for i := range v.NumField() {
		*n++
		f := v.Field(i)
		switch f.Interface().(type) {
		case string:
			f.SetString(fmt.Sprintf("%s %d", v.Type().Field(i).Name, *n))
		case bool:
			f.SetBool(true)
		case int, int64:
			f.SetInt(*n)
		case uint32, uint64:
			f.SetUint(uint64(*n))
		case time.Duration:
			f.SetInt(*n * int64(time.Second))
		case time.Time:
			f.Set(reflect.ValueOf(time.Now().UTC().Truncate(time.Second).Add(time.Duration(*n) * time.Second)))
		case map[string]string:
			f.Set(reflect.ValueOf(map[string]string{"team": "orders", "zone": fmt.Sprint(*n)}))
		default:
			if f.Kind() != reflect.Struct {
				t.Fatalf("%s is a %v: add it to fill", v.Type().Field(i).Name, f.Type())
			}
			fill(t, f, n)
		}
	}
}

// sent returns in as it arrives as JSON.
func sent[T any](t *testing.T, in T) (out T) {
	t.Helper()
	text, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What an agent says of a process reaches the registry of a server field by field, and is in
// the process that the server returns.
func TestRegistrationLosesNothing(t *testing.T) {
	var o registry.RemoteOptions
	var n int64
	fill(t, reflect.ValueOf(&o).Elem(), &n)
	started := time.Now().Add(-time.Hour).Truncate(time.Microsecond)
	g, err := gpid.New(netip.MustParseAddrPort("10.0.0.7:8080"), started, 4711)
	if err != nil {
		t.Fatal(err)
	}
	id := objectid.MustParse(fmt.Sprintf("%08xa1b2c3d400000001", time.Now().Unix()))
	for _, unknown := range []bool{true, false} {
		o.StartUnknown = unknown
		r := sent(t, towire.Registration(g, []objectid.ID{id}, objectid.Java, &o))
		r.Key = o.Key // which is a header
		ids, layout, got := towire.FromRegistration(&r)
		if !reflect.DeepEqual(ids, []objectid.ID{id}) || layout != objectid.Java || !reflect.DeepEqual(*got, o) {
			t.Errorf("%v in %v, %+v; want %v in %v, %+v: see Registration and FromRegistration in registration.go", ids, layout, *got, id, objectid.Java, o)
		}
		if r.Address != g.Addr().String() || int(r.PID) != g.PID() || !r.Started.Equal(started) {
			t.Errorf("%+v is not about %v", r, g)
		}
	}

	sender := towire.Registration(g, []objectid.ID{id}, objectid.Java, &o)
	ids, layout, options := towire.FromRegistration(&sender)
	reg := registry.New(memstore.New(), nil)
	if _, err := reg.AdoptRemote(t.Context(), g, ids, layout, options); err != nil {
		t.Fatal(err)
	}
	var p wire.Process
	for s, err := range reg.All(t.Context(), registry.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		p = sent(t, towire.Process(s))
	}
	// The fields of a registration that a process has by another name, or does not need.
	elsewhere := map[string]bool{
		"Key":     p.Member != "",
		"Address": strings.HasPrefix(p.GPID, "10.0.0.7:8080:"), "PID": strings.HasSuffix(p.GPID, ":4711"), "Started": strings.Contains(p.GPID, fmt.Sprint(started.UnixMicro())),
		"EvidenceIDs": len(p.Adopted) == 1 && p.Adopted[0].EvidenceID == id && p.EvidenceID != nil && *p.EvidenceID == id,
		"Layout":      p.ProcessValue == "a1b2c3d4", "Clock": p.ClockOffset != nil, "AgeSeconds": p.IDsFrom.Before(time.Now().Add(-o.Age / 2)),
	}
	of, process := reflect.ValueOf(sender), reflect.ValueOf(p)
	for _, field := range reflect.VisibleFields(of.Type()) {
		ok, is := elsewhere[field.Name]
		if same := process.FieldByName(field.Name); !is && same.IsValid() {
			ok = reflect.DeepEqual(same.Interface(), of.FieldByIndex(field.Index).Interface())
		}
		if !ok {
			t.Errorf("%s of a registration, %v, is not in the process %+v", field.Name, of.FieldByIndex(field.Index), p)
		}
	}
}
