package sealed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
)

const (
	testKey  = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	otherKey = "f0e1d2c3b4a5968778695a4b3c2d1e0ff0e1d2c3b4a5968778695a4b3c2d1e0f"
)

// sealer returns a Sealer for a kind under keys.
func sealer(t testing.TB, kind string, keys ...string) *sealed.Sealer {
	t.Helper()
	o := sealed.Options{Kind: kind}
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

// vectors are those of docs/explanation/sealed-ids.md, which were calculated with other
// libraries as well.
var vectors = []struct{ key, kind, id, text string }{
	{testKey, "order", "507f1f77bcf86cd799439011", "140COY9VZRS6_wzq57f9Xg"},
	{testKey, "order", "507f1f77bcf86cd799439012", "2W06e_Wz-Vb1a1P0cOvuWw"},
	{testKey, "user", "507f1f77bcf86cd799439011", "AkPxIQtqYH9GoiCUfm4fYg"},
	{testKey, "café", "000000000000000000000000", "sgNqq53WymIdMOuMmCf2IA"},
	{otherKey, "order", "ffffffffffffffffffffffff", "QySHLm393WRmUY4OrRn3cQ"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		s, want := sealer(t, v.kind, v.key), objectid.MustParse(v.id)
		if got := s.Seal(want); got != v.text {
			t.Errorf("%s %s: %s, want %s", v.kind, v.id, got, v.text)
		}
		if id, err := s.Open(v.text); id != want || err != nil {
			t.Errorf("%s %s: %v, %v, want %s", v.kind, v.text, id, err, v.id)
		}
		if id, err := s.OpenBytes(s.SealBytes(want)); id != want || err != nil {
			t.Errorf("%s: bytes: %v, %v, want %s", v.kind, id, err, v.id)
		}
	}
}

// The first key seals, and each of them opens.
func TestSeveralKeys(t *testing.T) {
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	old, current := sealer(t, "order", testKey), sealer(t, "order", otherKey)
	both := sealer(t, "order", otherKey, testKey)
	if both.Seal(id) != current.Seal(id) {
		t.Error("the first key does not seal")
	}
	for _, text := range []string{old.Seal(id), current.Seal(id)} {
		if got, err := both.Open(text); got != id || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := current.Open(old.Seal(id)); !errors.Is(err, sealed.ErrNotSealed) {
		t.Errorf("under another key: %v", err)
	}
}

func TestPrefix(t *testing.T) {
	key, _ := sealed.ParseKey(testKey)
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	s, err := sealed.New(&sealed.Options{Kind: "order", Keys: []sealed.Key{key}, Prefix: "order_"})
	if err != nil {
		t.Fatal(err)
	}
	bare := sealer(t, "order", testKey)
	if got := s.Seal(id); got != "order_"+bare.Seal(id) {
		t.Error(got)
	}
	if got, err := s.Open(s.Seal(id)); got != id || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{bare.Seal(id), "order" + bare.Seal(id), "Order_" + bare.Seal(id), "order_order_" + bare.Seal(id), "user_" + bare.Seal(id), "order_", ""} {
		if got, err := s.Open(text); !errors.Is(err, sealed.ErrNotSealed) {
			t.Errorf("%s opens as %v, %v", text, got, err)
		}
	}
	long := s.Seal(id) + "x"
	if _, err := s.Open(long); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("want %d characters, not %d", len(long)-1, len(long))) {
		t.Errorf("a character too many: %v", err)
	}
	if got, err := bare.Open(s.Seal(id)); !errors.Is(err, sealed.ErrNotSealed) {
		t.Errorf("opens without its prefix as %v, %v", got, err)
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
		"key 2 is the zero Key":          {Kind: "order", Keys: append(keys, sealed.Key{})},
		`prefix "order/": want letters,`: {Kind: "order", Keys: keys, Prefix: "order/"},
	} {
		if _, err := sealed.New(&o); err == nil || !strings.HasPrefix(err.Error(), "sealed: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := sealed.New(nil); err == nil || err.Error() != "sealed: the kind is missing" {
		t.Errorf("without options: %v", err)
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
