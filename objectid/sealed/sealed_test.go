package sealed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
)

const (
	testKey  = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	otherKey = "f0e1d2c3b4a5968778695a4b3c2d1e0ff0e1d2c3b4a5968778695a4b3c2d1e0f"
)

// sealer returns a Sealer of a form for a kind under keys.
func sealer(t testing.TB, form sealed.Form, kind string, keys ...string) *sealed.Sealer {
	t.Helper()
	o := sealed.Options{Kind: kind, Form: form}
	for _, text := range keys {
		key, err := sealed.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Keys = append(o.Keys, key)
	}
	s, err := sealed.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// vector is a row of the table in the documentation: the sealed ids are in the order of
// sealed.Forms.
type vector struct {
	key, kind string
	id        objectid.ID
	texts     []string
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	page, err := os.ReadFile("../../docs/explanation/sealed-ids.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| kind | id | Short | UUID | Long |\n|---|---|---|---|---|\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 5 {
			break
		}
		id, err := objectid.Parse(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector{testKey, strings.TrimPrefix(cells[0], "| "), id, append(cells[2:4], strings.TrimSuffix(cells[4], " |"))})
	}
	if len(all) != 5 {
		t.Fatalf("docs/explanation/sealed-ids.md has %d vectors, want 5", len(all))
	}
	all[4].key = otherKey
	return all
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		for i, form := range sealed.Forms {
			s := sealer(t, form, v.kind, v.key)
			if got := s.Seal(v.id); got != v.texts[i] {
				t.Errorf("%v %s %v: %s, want %s", form, v.kind, v.id, got, v.texts[i])
			}
			if id, err := s.Open(v.texts[i]); id != v.id || err != nil {
				t.Errorf("%v %s %s: %v, %v, want %v", form, v.kind, v.texts[i], id, err, v.id)
			}
			if id, err := s.OpenBytes(s.SealBytes(v.id)); id != v.id || err != nil {
				t.Errorf("%v %s: bytes: %v, %v, want %v", form, v.kind, id, err, v.id)
			}
		}
	}
}

// The first key seals, and each of them opens.
func TestSeveralKeys(t *testing.T) {
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	for _, form := range sealed.Forms {
		old, current := sealer(t, form, "order", testKey), sealer(t, form, "order", otherKey)
		both := sealer(t, form, "order", otherKey, testKey)
		if both.Seal(id) != current.Seal(id) {
			t.Errorf("%v: the first key does not seal", form)
		}
		for _, text := range []string{old.Seal(id), current.Seal(id)} {
			if got, err := both.Open(text); got != id || err != nil {
				t.Errorf("%v %s: %v, %v", form, text, got, err)
			}
		}
		if _, err := current.Open(old.Seal(id)); !errors.Is(err, sealed.ErrNotSealed) {
			t.Errorf("%v: under another key: %v", form, err)
		}
	}
}

func TestPrefix(t *testing.T) {
	key, _ := sealed.ParseKey(testKey)
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	for _, form := range []sealed.Form{sealed.Short, sealed.Long} {
		s, err := sealed.New(&sealed.Options{Kind: "order", Keys: []sealed.Key{key}, Form: form, Prefix: "order_"})
		if err != nil {
			t.Fatal(err)
		}
		bare := sealer(t, form, "order", testKey)
		if got := s.Seal(id); got != "order_"+bare.Seal(id) {
			t.Errorf("%v: %s", form, got)
		}
		if got, err := s.Open(s.Seal(id)); got != id || err != nil {
			t.Errorf("%v: %v, %v", form, got, err)
		}
		for _, text := range []string{bare.Seal(id), "order" + bare.Seal(id), "Order_" + bare.Seal(id), "order_order_" + bare.Seal(id), "user_" + bare.Seal(id), "order_", ""} {
			if got, err := s.Open(text); !errors.Is(err, sealed.ErrNotSealed) {
				t.Errorf("%v: %s opens as %v, %v", form, text, got, err)
			}
		}
		long := s.Seal(id) + "x"
		if _, err := s.Open(long); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("want %d characters, not %d", len(long)-1, len(long))) {
			t.Errorf("%v: a character too many: %v", form, err)
		}
		if got, err := bare.Open(s.Seal(id)); !errors.Is(err, sealed.ErrNotSealed) {
			t.Errorf("%v: opens without its prefix as %v, %v", form, got, err)
		}
	}
}

func TestFormNames(t *testing.T) {
	for form, want := range map[sealed.Form]string{sealed.Short: "short", sealed.UUID: "uuid", sealed.Long: "long", 3: "Form(3)"} {
		if got := form.String(); got != want {
			t.Errorf("form %d is printed as %q, want %q", uint8(form), got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	key, err := sealed.ParseKey(strings.ToUpper(testKey))
	if err != nil {
		t.Fatal(err)
	}
	keys := []sealed.Key{key}
	for want, o := range map[string]sealed.Options{
		"the kind is missing":            {Keys: keys},
		"the key is missing":             {Kind: "order"},
		"key 2 was not read by ParseKey": {Kind: "order", Keys: append(keys, sealed.Key{})},
		"there is no form 3":             {Kind: "order", Keys: keys, Form: 3},
		"a UUID has no prefix":           {Kind: "order", Keys: keys, Form: sealed.UUID, Prefix: "order_"},
		`prefix "order/": want letters,`: {Kind: "order", Keys: keys, Prefix: "order/"},
	} {
		if _, err := sealed.New(&o); err == nil || !strings.HasPrefix(err.Error(), "sealed: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestKeys(t *testing.T) {
	first, second := sealed.GenerateKey(), sealed.GenerateKey()
	if first == second {
		t.Error("two keys are equal")
	}
	if _, err := sealed.ParseKey(first); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", testKey[1:], testKey + "0", testKey[1:] + "g", " " + testKey[1:]} {
		if _, err := sealed.ParseKey(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A key does not get into logs.
func TestKeyIsNotShown(t *testing.T) {
	key, _ := sealed.ParseKey(testKey)
	o := sealed.Options{Kind: "order", Keys: []sealed.Key{key}}
	j, _ := json.Marshal(o)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("start", "key", key, "options", o)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "key", key, "options", o)
	var shown strings.Builder
	shown.WriteString(log.String() + string(j))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		shown.WriteString(fmt.Sprintf(verb, key) + fmt.Sprintf(verb, &key) + fmt.Sprintf(verb, o))
	}
	for _, part := range []string{"0001", "30313233", "1 2 3", "1,2,3", "0x1, 0x2"} {
		if strings.Contains(shown.String(), part) {
			t.Errorf("a key is shown, with %q: %s", part, shown.String())
		}
	}
	if !strings.Contains(shown.String(), "secret") {
		t.Error(shown.String())
	}
}
