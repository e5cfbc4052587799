package inspect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

// today is the day on which the tests ask.
var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func options() *inspect.Options {
	return &inspect.Options{Now: func() time.Time { return today }}
}

// describe writes a reading on one line, with numbers in decimal and the other
// fields in hexadecimal.
func describe(r inspect.Reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s %s", r.Format, r.Variant, r.Verdict)
	if r.Time != nil {
		fmt.Fprintf(&b, " %s", r.Time.Format(time.RFC3339Nano))
	}
	for _, f := range r.Fields {
		if f.Number != nil {
			fmt.Fprintf(&b, " %s=%d", f.Name, *f.Number)
		} else {
			fmt.Fprintf(&b, " %s=%s", f.Name, f.Hex)
		}
	}
	return b.String()
}

// ulidAt returns the ULID of the given Unix milliseconds with zeros for random bits.
func ulidAt(ms uint64) string {
	var id ulid.ULID
	if err := id.SetTime(ms); err != nil {
		panic(err)
	}
	return id.String()
}

// The vectors are those that the formats' own specifications and documents give.
func TestInspect(t *testing.T) {
	read := map[inspect.Format]bool{}
	for _, c := range []struct {
		id   string
		want []string
	}{
		{"4e7020cb7cac81af7136236b", []string{
			"objectid/classic possible 2011-09-14T03:34:35Z seconds=1315971275 machine=7cac81 pid=44913 counter=3548011",
			"objectid/java possible 2011-09-14T03:34:35Z seconds=1315971275 machine=7cac process=81af counter=1899373419",
			"objectid/modern possible 2011-09-14T03:34:35Z seconds=1315971275 process=7cac81af71 counter=3548011",
		}},
		{"5E4FA350B636F733A15D6F62", []string{
			"objectid/modern likely 2020-02-21T09:30:56Z seconds=1582277456 process=b636f733a1 counter=6123362",
			"objectid/classic possible 2020-02-21T09:30:56Z seconds=1582277456 machine=b636f7 pid=13217 counter=6123362",
			"objectid/java unlikely 2020-02-21T09:30:56Z seconds=1582277456 machine=b636 process=f733 counter=2707255138",
		}},
		{"7fffffff0000000000000005", []string{"objectid/election likely marker=7fffffff term=5"}},
		{"c232ab00-9414-11ec-b3c8-9f6bdeced846", []string{
			"uuid/v1 likely 2022-02-22T19:22:22Z time_low=c232ab00 time_mid=9414 version=1 time_high=1ec variant=2 clock_sequence=13256 node=9f6bdeced846",
		}},
		{"000003e8-9414-21ec-b300-9f6bdeced846", []string{
			"uuid/v2 likely 2022-02-22T19:16:56.189952Z local_id=1000 time_mid=9414 version=2 time_high=1ec variant=2 clock_sequence=51 local_domain=0 node=9f6bdeced846",
		}},
		{"5df41881-3aed-3515-88a7-2f4a814cf09e", []string{
			"uuid/v3 likely md5_high=5df418813aed version=3 md5_mid=515 variant=2 md5_low=08a72f4a814cf09e",
		}},
		{"919108F752D143209BACF847DB4148A8", []string{
			"uuid/v4 likely random_a=919108f752d1 version=4 random_b=320 variant=2 random_c=1bacf847db4148a8",
		}},
		{"2ed6657d-e927-568b-95e1-2665a8aea6a2", []string{
			"uuid/v5 likely sha1_high=2ed6657de927 version=5 sha1_mid=68b variant=2 sha1_low=15e12665a8aea6a2",
		}},
		{"1ec9414c-232a-6b00-b3c8-9f6bdeced846", []string{
			"uuid/v6 likely 2022-02-22T19:22:22Z time_high=1ec9414c time_mid=232a version=6 time_low=b00 variant=2 clock_sequence=13256 node=9f6bdeced846",
		}},
		{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", []string{
			"uuid/v7 likely 2022-02-22T19:22:22Z milliseconds=1645557742000 version=7 random_a=cc3 variant=2 random_b=18c4dc0c0c07398f",
		}},
		{"2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", []string{
			"uuid/v8 likely custom_a=2489e9ad2ee2 version=8 custom_b=e00 variant=2 custom_c=0ec932d5f69181c0",
		}},
		{"00000000-0000-0000-0000-000000000000", []string{"uuid/nil bound value=" + strings.Repeat("0", 32)}},
		{"ffffffff-ffff-ffff-ffff-ffffffffffff", []string{"uuid/max bound value=" + strings.Repeat("f", 32)}},
		{"d41d8cd98f00b204e9800998ecf8427e", []string{ // the MD5 of nothing
			"uuid/ unlikely value=d41d8cd98f00b204e9800998ecf8427e",
		}},
		{"01563e3a-b5d3-d676-4c61-efb99302bd5b", []string{ // a ULID
			"ulid/ possible 2016-07-30T23:54:10.259Z milliseconds=1469922850259 random=d6764c61efb99302bd5b",
			"uuid/ unlikely value=01563e3ab5d3d6764c61efb99302bd5b",
		}},
		{"7ZZZZZZZZZZZZZZZZZZZZZZZZZ", []string{ // in the year 10889
			"ulid/ unlikely milliseconds=281474976710655 random=ffffffffffffffffffff",
		}},
		{ulidAt(253402300799999), []string{ // the last of the year 9999
			"ulid/ unlikely 9999-12-31T23:59:59.999Z milliseconds=253402300799999 random=00000000000000000000",
		}},
		{ulidAt(253402300800000), []string{
			"ulid/ unlikely milliseconds=253402300800000 random=00000000000000000000",
		}},
		{"ffffffff-ffff-7fff-bfff-ffffffffffff", []string{
			"uuid/v7 unlikely milliseconds=281474976710655 version=7 random_a=fff variant=2 random_b=3fffffffffffffff",
		}},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAV", []string{
			"ulid/ likely 2016-07-30T23:54:10.259Z milliseconds=1469922850259 random=d6764c61efb99302bd5b",
		}},
		{"0ujtsYcgvSTl8PAuAdqWYSMnLOv", []string{
			"ksuid/ likely 2017-10-10T04:00:47Z seconds=107608047 random=b5a1cd34b5f99d1154fb6853345c9735",
		}},
		{"9m4e2mr0ui3e8a215n4g", []string{ // its time is that of an example, from before there were xids
			"xid/ unlikely 2011-03-22T17:50:19Z seconds=1300816219 machine=60f486 pid=58408 counter=4271561",
		}},
		{"175928847299117063", []string{ // from Discord's reference
			"snowflake/twitter possible 2012-03-03T13:01:20.453Z sign=0 milliseconds=41944705796 machine=32 sequence=7",
			"snowflake/discord possible 2016-04-30T11:18:25.796Z milliseconds=41944705796 worker=1 process=0 increment=7",
			"snowflake/instagram possible 2012-04-23T14:46:14.619Z milliseconds=20972352898 shard=128 sequence=7",
			"snowflake/sonyflake possible 2017-12-27T16:16:04.49Z sign=0 centiseconds=10486176449 sequence=2 machine=7",
			"snowflake/mastodon unlikely 2055-01-25T03:39:30.946Z milliseconds=2684461170946 sequence=7",
		}},
		{"109372843234512345", []string{ // of Mastodon, and of Sonyflake below
			"snowflake/twitter possible 2011-09-01T21:11:32.533Z sign=0 milliseconds=26076517876 machine=276 sequence=3545",
			"snowflake/discord possible 2015-10-29T19:28:37.876Z milliseconds=26076517876 worker=8 process=20 increment=3545",
			"snowflake/instagram possible 2012-01-22T18:51:20.659Z milliseconds=13038258938 shard=1107 sequence=473",
			"snowflake/mastodon possible 2022-11-19T22:32:24.081Z milliseconds=1668897144081 sequence=19929",
			"snowflake/sonyflake possible 2016-09-24T12:41:34.69Z sign=0 centiseconds=6519129469 sequence=17 machine=19929",
		}},
		{"647000000000000123", []string{
			"snowflake/twitter possible 2015-09-24T10:49:55.335Z sign=0 milliseconds=154256820678 machine=728 sequence=123",
			"snowflake/discord possible 2019-11-21T09:07:00.678Z milliseconds=154256820678 worker=22 process=24 increment=123",
			"snowflake/instagram possible 2014-02-02T13:40:32.06Z milliseconds=77128410339 shard=2912 sequence=123",
			"snowflake/sonyflake possible 2026-11-20T10:47:31.69Z sign=0 centiseconds=38564205169 sequence=173 machine=32891",
			"snowflake/mastodon unlikely 2282-11-05T07:28:43.437Z milliseconds=9872436523437 sequence=32891",
		}},
		{"user_01h455vb4pex5vsknk084sn02q", []string{ // the suffix and its UUID are from the specification
			"typeid/user likely 2023-06-30T03:34:18.518Z milliseconds=1688096058518 version=7 random_a=74b variant=2 random_b=3cceb302099a8057",
		}},
		{"10.0.0.7:8080:1795166651598985:4711", []string{
			"gpid/ likely 2026-11-20T09:24:11.598985Z address=00000000000000000000ffff0a000007 port=8080 start=1795166651598985 pid=4711",
		}},
		{"[2001:db8::1]:8080:1795166651598985:4711", []string{
			"gpid/ likely 2026-11-20T09:24:11.598985Z address=20010db8000000000000000000000001 port=8080 start=1795166651598985 pid=4711",
		}},
		{"999999999999999", []string{ // the fewest digits
			"snowflake/twitter possible 2010-11-06T19:56:33.236Z sign=0 milliseconds=238418579 machine=103 sequence=4095",
			"snowflake/discord possible 2015-01-03T18:13:38.579Z milliseconds=238418579 worker=3 process=7 increment=4095",
			"snowflake/instagram possible 2011-08-26T06:13:51.01Z milliseconds=119209289 shard=4511 sequence=1023",
			"snowflake/sonyflake possible 2014-09-07T21:34:06.44Z sign=0 centiseconds=59604644 sequence=198 machine=32767",
			"snowflake/mastodon unlikely 1970-06-26T14:33:09.062Z milliseconds=15258789062 sequence=32767",
		}},
		{"3800000000000000000", []string{
			"snowflake/instagram likely 2025-12-31T21:08:42.013Z milliseconds=452995300292 shard=7936 sequence=0",
			"snowflake/twitter unlikely 2039-07-21T01:46:15.242Z sign=0 milliseconds=905990600585 machine=960 sequence=0",
			"snowflake/discord unlikely 2043-09-17T00:03:20.585Z milliseconds=905990600585 worker=30 process=0 increment=0",
			"snowflake/mastodon unlikely 3807-06-04T03:33:57.5Z milliseconds=57983398437500 sequence=0",
			"snowflake/sonyflake unlikely 2086-06-10T00:08:21.46Z sign=0 centiseconds=226497650146 sequence=124 machine=0",
		}},
	} {
		report, err := inspect.Inspect(c.id, options())
		if err != nil {
			t.Errorf("Inspect(%s): %v", c.id, err)
			continue
		}
		var got []string
		for _, r := range report.Readings {
			got = append(got, describe(r))
			if r.Reason == "" {
				t.Errorf("Inspect(%s): %s gives no reason", c.id, r.Variant)
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("Inspect(%s) =\n%s\nwant\n%s", c.id, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if _, err := json.Marshal(report); err != nil {
			t.Errorf("Inspect(%s) is no JSON: %v", c.id, err)
		}
		if report.Time != report.Readings[0].Time {
			t.Errorf("Inspect(%s).Time = %v, want that of the first reading", c.id, report.Time)
		}
		read[report.Readings[0].Format] = true
	}
	for _, format := range inspect.Formats() {
		if !read[format] {
			t.Errorf("no vector of the format %s: add an id with its readings to this test", format)
		}
	}
}

// firstOf returns an id of the given second.
func firstOf(second string) string {
	t, err := time.Parse(time.RFC3339, second)
	if err != nil {
		panic(err)
	}
	return objectid.MinAt(t).String()[:8] + "0102030405060708"
}

func TestPlausibility(t *testing.T) {
	java := objectid.Java
	for _, c := range []struct {
		name, id string
		hint     *objectid.Layout
		variant  string
		verdict  inspect.Verdict
	}{
		{"before MongoDB", firstOf("2008-12-31T23:59:59Z"), nil, "classic", inspect.Unlikely},
		{"in MongoDB's first year", firstOf("2009-01-01T00:00:00Z"), nil, "classic", inspect.Possible},
		{"before random values", firstOf("2018-07-31T23:59:59Z"), nil, "classic", inspect.Possible},
		{"since random values", firstOf("2018-08-01T00:00:00Z"), nil, "modern", inspect.Likely},
		{"in five minutes", firstOf("2026-11-20T12:05:00Z"), nil, "modern", inspect.Likely},
		{"later than that", firstOf("2026-11-20T12:05:01Z"), nil, "modern", inspect.Unlikely},
		{"a bound", objectid.MinAt(today).String(), nil, "modern", inspect.Bound},
		{"zero", objectid.ID{}.String(), nil, "classic", inspect.Bound},
		{"hint", "507f1f77bcf86cd799439011", &java, "java", inspect.Likely},
		{"pid 65536, or 0", "507f1f77bcf86c0000439011", nil, "classic", inspect.Possible},
	} {
		o := options()
		o.Layout = c.hint
		report, err := inspect.Inspect(c.id, o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if first := report.Readings[0]; first.Variant != c.variant || first.Verdict != c.verdict || len(report.Readings) != 3 {
			t.Errorf("%s: %s is first, %s (%s) of %d readings, want %s, %s", c.name, first.Variant, first.Verdict, first.Reason, len(report.Readings), c.variant, c.verdict)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `"" (length 0)`},
		{"ac3", `"ac3" (length 3); an ObjectId has 24`},
		{"507f1f77bcf86cd79943901g", "character 24 is 'g'"},
		{"hello world!", "(length 12)"},
		{"00000000000000000", "(length 17)"},
		{"99999999999999999999", "an xid has 20"},
		{"9m4e2mr0ui3e8a215n4h", "the last 0 or g"},
		{"9223372036854775808", "(length 19)"},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAU", "a ULID has 26"},
		{"81ARZ3NDEKTSV4RRFFQ69G5FAV", "a ULID has 26"},
		{"zzzzzzzzzzzzzzzzzzzzzzzzzzz", "a KSUID has 27"},
		{"c232ab00-9414-11ec-b3c8-9f6bdeced84g", "a UUID has 32"},
		{"{c232ab00-9414-11ec-b3c8-9f6bdeced846}", "(length 38)"},
		{" 507f1f77bcf86cd799439011", "(length 25)"},
		{"99999999999999", "(length 14)"},
		{"012345678901234", "(length 15)"},
		{strings.Repeat("ä", 40), strings.Repeat("ä", 40) + `" (length 40)`},
		{strings.Repeat("ä", 41), strings.Repeat("ä", 40) + `..." (length 41)`},
		{strings.Repeat("ä", 5000), "(length 5000)"},
		// Resume tokens in the forms of MongoDB 4.2 and 6.0, and one that is cut off.
		{"826B09FDCE000000002B022C0100296E5A100415E350EA309146C0AAE579D520246E7A46645F69640064507F1F77BCF86CD7994390110004", "the _id of its document is 507F1F77BCF86CD799439011"},
		{"82635019A0000000012B042C0100296E5A1004AB1154ACACD849A48C61756D70D3B21F463C6F7065726174696F6E54797065003C696E736572740046646F63756D656E744B65790046645F69640064635019A078BE67426D7CF4D2000004", "the _id of its document is 635019A078BE67426D7CF4D2"},
		{"82635019A0000000012B46645F69640064", "(length 34)"},
	} {
		_, err := inspect.Inspect(c.text, nil)
		if !errors.Is(err, inspect.ErrUnknown) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("Inspect(%.30q): %v, want ErrUnknown with %q", c.text, err, c.want)
		}
	}
}

func FuzzInspect(f *testing.F) {
	for _, s := range []string{
		"", "507f1f77bcf86cd799439011", "c232ab00-9414-11ec-b3c8-9f6bdeced846", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
		"0ujtsYcgvSTl8PAuAdqWYSMnLOv", "9m4e2mr0ui3e8a215n4g", "175928847299117063", "ffffffffffffffffffffffff",
		"ffffffffffffffffffffffffffffffff", "aWgEPTl1tmebfsQzFP4bxwgy80V", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		report, err := inspect.Inspect(s, options())
		if err != nil {
			if !errors.Is(err, inspect.ErrUnknown) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		// The canonical form reads the same, and the fields cover every bit.
		again, err := inspect.Inspect(report.ID, options())
		if err != nil || fmt.Sprint(describe(again.Readings[0])) != fmt.Sprint(describe(report.Readings[0])) {
			t.Fatalf("%q is %v, but %q is %v (%v)", s, report, report.ID, again, err)
		}
		if _, err := json.Marshal(report); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for _, r := range report.Readings {
			bit := 0
			for _, field := range r.Fields {
				if field.Bit != bit {
					t.Fatalf("%q: %s begins at bit %d, want %d", s, field.Name, field.Bit, bit)
				}
				bit += field.Bits
			}
			if bit%8 != 0 || bit == 0 {
				t.Fatalf("%q: the fields of %s end at bit %d", s, r.Format, bit)
			}
		}
	})
}

// Drivers such as bson-ruby before 5.0 of 2024 write host and pid. Next to the name of the
// host, that is the likely reading of the bytes, whatever the year.
func TestMachineOfAKnownHost(t *testing.T) {
	const id = "6592008" + "0" + "686c82" + "1e86" + "00002a" // md5("vm") begins with 686c82, and 0x1e86 is 7814
	read := func(o *inspect.Options) string {
		t.Helper()
		o.Now = options().Now
		r, err := inspect.Inspect(id, o)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s %s: %s", r.Readings[0].Variant, r.Readings[0].Verdict, r.Readings[0].Reason)
	}
	if got, want := read(&inspect.Options{Hosts: []string{"db1", "vm"}}), "classic likely: machine 686c82 is host vm, pid 7814"; got != want {
		t.Errorf("with its host: %q, want %q", got, want)
	}
	if got := read(&inspect.Options{Hosts: []string{"db1"}}); !strings.HasPrefix(got, "modern likely: ") {
		t.Errorf("without its host: %q, want modern", got)
	}
	if got := read(&inspect.Options{Hosts: []string{"vm"}, Layout: new(objectid.Modern)}); !strings.HasPrefix(got, "modern likely: this layout was given") {
		t.Errorf("with its host and a given layout: %q, want modern", got)
	}
	// Without any names, that of this host counts.
	g, err := objectid.NewGenerator(&objectid.Options{Layout: objectid.Classic})
	if err != nil {
		t.Fatal(err)
	}
	r, err := inspect.Inspect(g.New().String(), nil)
	if want := fmt.Sprintf(", pid %d", os.Getpid()&0xffff); err != nil || r.Readings[0].Variant != "classic" || !strings.HasSuffix(r.Readings[0].Reason, want) {
		t.Errorf("a classic id of this process: %+v, %v, want the reading classic%s", r.Readings[0], err, want)
	}
}

// TestNeighboursOfFormats reads texts that differ from an id of a format in one thing.
// Version 2 has no low bits of the time.
func TestReasonOfVersion2(t *testing.T) {
	for id, want := range map[string]bool{"000003e8-9414-21ec-b300-9f6bdeced846": true, "c232ab00-9414-11ec-b3c8-9f6bdeced846": false} {
		report, err := inspect.Inspect(id, options())
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Readings[0].Reason; strings.Contains(got, "up to 7m9.5s later") != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

func TestNeighboursOfFormats(t *testing.T) {
	for _, id := range []string{
		"User_01h455vb4pex5vsknk084sn02q", "_01h455vb4pex5vsknk084sn02q", "user__01h455vb4pex5vsknk084sn02",
		"user_81h455vb4pex5vsknk084sn02q", "user_01h455vb4pex5vsknk084sn02l", strings.Repeat("a", 64) + "_01h455vb4pex5vsknk084sn02q",
		"0z4a98xxat96iws9zmbrgj3a", "tz4a98xxat96iws9zmbrgj3", "Tz4a98xxat96iws9zmbrgj3a", "f07f1f77bcf86cd79943xyz0", "responsibilitiesandother",
		"JhLeOlGIEjaIOFHR0xdd", "-JhLeOlGIEjaIOFHR0x.", "-JhLeOlGIEjaIOFHR0x",
		"10.0.0.7:8080:179516665159898:4711", "10.0.0.7:8080:1795166651598985:0",
	} {
		if report, err := inspect.Inspect(id, options()); !errors.Is(err, inspect.ErrUnknown) {
			t.Errorf("Inspect(%s) = %+v, %v", id, report, err)
		}
	}
	for _, id := range []string{strings.Repeat("a", 63) + "_01h455vb4pex5vsknk084sn02q"} {
		if _, err := inspect.Inspect(id, options()); err != nil {
			t.Error(err)
		}
	}
}

// Reports that are made in the same buffer are those that are made without.
func TestBuffer(t *testing.T) {
	o := options()
	o.Buffer = new(inspect.Buffer)
	for _, id := range []string{
		"507f1f77bcf86cd799439011", "6592008029c8c3e4dc76256c", "659200800000000000000000", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
		"ffffffff29c8c3e4dc76256c", "000000000000000000000000", "507F1F77BCF86CD799439011",
	} {
		got, err := inspect.Inspect(id, o)
		want, errWithout := inspect.Inspect(id, options())
		if err != nil || errWithout != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v, %v", id, got, err, want, errWithout)
		}
	}
	allocations := func(o *inspect.Options) float64 {
		return testing.AllocsPerRun(100, func() { _, _ = inspect.Inspect("507f1f77bcf86cd799439011", o) })
	}
	if with, without := allocations(o), allocations(options()); with >= without {
		t.Errorf("%v allocations, want fewer than the %v without the buffer", with, without)
	}
}

// TestDoubt holds Doubt to what Inspect says of the same ids.
func TestDoubt(t *testing.T) {
	for text, want := range map[string]string{
		"507f1f77bcf86cd799439011": "", "507f1f770000000000000000": "",
		"000000000000000000000000": "all zeros: not an id",
		"7fffffff0000000000000005": "election 5 of a replica set",
		"7fffffffbcf86cd799439011": "unlikely: the time is in the future",
		"000000000000000000000001": "unlikely: the time is before 2009, when no such ids existed",
		"495c077fbcf86cd799439011": "unlikely: the time is before 2009, when no such ids existed", "495c0780bcf86cd799439011": "",
	} {
		got := inspect.Doubt(objectid.MustParse(text), today)
		report, err := inspect.Inspect(text, options())
		if err != nil || got != want {
			t.Fatalf("Doubt(%s) = %q, %v, want %q", text, got, err, want)
		}
		first := report.Readings[0]
		if says := string(first.Verdict) + ": " + first.Reason; got != "" && !strings.Contains(says, got) || (got == "") == (first.Verdict == inspect.Unlikely || first.Time == nil) && text != "000000000000000000000000" {
			t.Errorf("%s: Doubt says %q, and Inspect says %q", text, got, says)
		}
	}
}
