package gpid_test

import (
	"testing"

	"github.com/oidkit/oid/gpid"
)

// The vectors are those of Python: uuid.uuid5(uuid.UUID("4d63009a-8d0f-11ee-aad7-4c796ed8e320"), text).
func TestInstanceID(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.7:8080:1700000000000000:4711":         "007765ba-458a-5bc3-bd96-ad92fa9841e5",
		"[2001:db8::1]:0:1234567890123456:4294967295": "44376a45-fe3f-57cd-a25c-2edcd83b07b1",
		"127.0.0.1:0:1000000000000000:1":              "806b75b7-7bf7-51c8-8950-f4356d897755",
	} {
		if got := gpid.MustParse(text).InstanceID(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := (gpid.GPID{}).InstanceID(); got != "" {
		t.Errorf("the zero GPID has the instance id %q, want none", got)
	}
}
