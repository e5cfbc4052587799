package lock_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/objectid"
)

const ownerText = "10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011"

func TestOwnerText(t *testing.T) {
	want := lock.Owner{
		Process: gpid.MustParse("10.0.0.7:8080:1795166651598985:4711"),
		ID:      objectid.MustParse("507f1f77bcf86cd799439011"),
	}
	got, err := lock.ParseOwner(ownerText)
	if err != nil || got != want {
		t.Errorf("ParseOwner = %v, %v", got, err)
	}
	if got := want.String(); got != ownerText {
		t.Errorf("String = %q, want %q", got, ownerText)
	}
	text, err := json.Marshal(map[string]lock.Owner{"a": want, "b": {}})
	if err != nil || string(text) != `{"a":"`+ownerText+`","b":""}` {
		t.Errorf("JSON = %s, %v", text, err)
	}
	var back map[string]lock.Owner
	if err := json.Unmarshal(text, &back); err != nil || back["a"] != want || !back["b"].IsZero() {
		t.Errorf("from JSON = %v, %v", back, err)
	}
}

func TestParseOwnerRefuses(t *testing.T) {
	for _, text := range []string{
		"", "/", "507f1f77bcf86cd799439011", "/507f1f77bcf86cd799439011",
		"10.0.0.7:8080:1795166651598985:4711/", "10.0.0.7:8080:1795166651598985:4711",
		strings.ToUpper(ownerText), ownerText + "/", " " + ownerText, "localhost:1:2:3/507f1f77bcf86cd799439011",
	} {
		if o, err := lock.ParseOwner(text); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("ParseOwner(%q) = %v, %v; want ErrInvalid", text, o, err)
		}
	}
}

func FuzzParseOwner(f *testing.F) {
	f.Add(ownerText)
	f.Add("[2001:db8::1]:8080:1795166651598985:4711/507f1f77bcf86cd799439011")
	f.Fuzz(func(t *testing.T, text string) {
		if o, err := lock.ParseOwner(text); err == nil && o.String() != text {
			t.Errorf("ParseOwner(%q) is written as %q", text, o)
		}
	})
}

func TestCheckTTL(t *testing.T) {
	for ttl, ok := range map[time.Duration]bool{
		0: false, -time.Second: false, lock.MinTTL - 1: false, lock.MinTTL: true,
		lock.DefaultTTL: true, lock.MaxTTL: true, lock.MaxTTL + 1: false,
	} {
		if err := lock.CheckTTL(ttl); (err == nil) != ok || (err != nil && !errors.Is(err, lock.ErrInvalid)) {
			t.Errorf("CheckTTL(%v) = %v", ttl, err)
		}
	}
}
