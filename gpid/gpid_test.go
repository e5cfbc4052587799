package gpid_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
)

// known are text forms with their parts.
var known = []struct {
	text  string
	addr  string
	start string
	pid   int
}{
	{"10.0.0.7:8080:1795166651598985:4711", "10.0.0.7:8080", "2026-11-20T09:24:11.598985Z", 4711},
	{"[2001:db8::1]:8080:1795166651598985:4711", "[2001:db8::1]:8080", "2026-11-20T09:24:11.598985Z", 4711},
	{"127.0.0.1:0:1000000000000000:1", "127.0.0.1:0", "2001-09-09T01:46:40Z", 1},
	{
		"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535:9999999999999999:2147483647",
		"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", "2286-11-20T17:46:39.999999Z", 2147483647,
	},
	{"[::]:1:1795166651598985:4711", "[::]:1", "2026-11-20T09:24:11.598985Z", 4711},
}

func TestKnownForms(t *testing.T) {
	for _, k := range known {
		start, err := time.Parse(time.RFC3339, k.start)
		if err != nil {
			t.Fatal(err)
		}
		made, err := gpid.New(netip.MustParseAddrPort(k.addr), start, k.pid)
		if err != nil {
			t.Errorf("New(%s, %s, %d): %v", k.addr, k.start, k.pid, err)
		}
		if got := made.String(); got != k.text {
			t.Errorf("New(%s, %s, %d) = %s, want %s", k.addr, k.start, k.pid, got, k.text)
		}
		read, err := gpid.Parse(k.text)
		if err != nil || read != made {
			t.Errorf("Parse(%q) = %v, %v, want %v", k.text, read, err, made)
		}
		if got := read.Addr().String(); got != k.addr {
			t.Errorf("%s: Addr = %s, want %s", k.text, got, k.addr)
		}
		if !read.Start().Equal(start) || read.Start().Location() != time.UTC {
			t.Errorf("%s: Start = %v, want %v in UTC", k.text, read.Start(), start)
		}
		if read.PID() != k.pid {
			t.Errorf("%s: PID = %d, want %d", k.text, read.PID(), k.pid)
		}
	}
}

// The longest text has the highest pid, which an int of 32 bits cannot hold.
func TestLongestText(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int has 32 bits here")
	}
	const text = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535:9999999999999999:4294967295"
	g, err := gpid.Parse(text)
	if err != nil || g.String() != text {
		t.Fatalf("Parse(%q) = %v, %v", text, g, err)
	}
	roundTrip(t, g)
	if g, err := gpid.New(g.Addr(), g.Start(), g.PID()+1); !errors.Is(err, gpid.ErrInvalid) {
		t.Errorf("the next pid: %v, %v, want ErrInvalid", g, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "want ip:port:start_time:pid"},
		{"4711", "want ip:port:start_time:pid"},
		{"10.0.0.7:8080", "want ip:port:start_time:pid"},
		{"8080:1795166651598985:4711", `address "8080"`},
		{":1795166651598985:4711", `address ""`},
		{"10.0.0.7:8080:1795166651598985:", `pid ""`},
		{"10.0.0.7:8080:1795166651598985:0", `pid "0"`},
		{"10.0.0.7:8080:1795166651598985:04711", `want the form "10.0.0.7:8080:1795166651598985:4711"`},
		{"10.0.0.7:8080:1795166651598985:+4711", `pid "+4711"`},
		{"10.0.0.7:8080:1795166651598985:4294967296", `pid "4294967296"`},
		{"10.0.0.7:8080:1795166651598985:47x1", `pid "47x1"`},
		{"10.0.0.7:8080:1795166651598985:4711 ", `pid "4711 "`},
		{"10.0.0.7:8080:1795166651598985:4711\n", `pid "4711\n"`},
		{"10.0.0.7:8080:999999999999999:4711", "16 digits"},
		{"10.0.0.7:8080:0795166651598985:4711", "16 digits"},
		{"10.0.0.7:8080:10000000000000000:4711", `start time "10000000000000000"`},
		{"10.0.0.7:8080:-795166651598985:4711", `start time "-795166651598985"`},
		{"10.0.0.7:8080:18446744073709551616:4711", `start time "18446744073709551616"`},
		{"10.0.0.7:08080:1795166651598985:4711", "want the form"},
		{"10.0.0.7:65536:1795166651598985:4711", "address"},
		{"10.0.0.7::1795166651598985:4711", "address"},
		{"10.0.0.07:80:1795166651598985:4711", "address"},
		{"10.0.0:80:1795166651598985:4711", "address"},
		{"2001:db8::1:8080:1795166651598985:4711", "address"},
		{"[10.0.0.7]:8080:1795166651598985:4711", "address"},
		{"[2001:DB8::1]:8080:1795166651598985:4711", "want the form"},
		{"[2001:db8:0::1]:8080:1795166651598985:4711", "want the form"},
		{"[::ffff:10.0.0.7]:8080:1795166651598985:4711", `want the form "10.0.0.7:8080:1795166651598985:4711"`},
		{"[fe80::1%eth0]:8080:1795166651598985:4711", "zone"},
		{"example.org:8080:1795166651598985:4711", "address"},
		{" 10.0.0.7:8080:1795166651598985:4711", "address"},
		{strings.Repeat("1", 1000), "1000 characters"},
	} {
		g, err := gpid.Parse(c.text)
		if !errors.Is(err, gpid.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Parse(%q) = %v, %v, want an ErrInvalid with %q", c.text, g, err, c.says)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	addr := netip.MustParseAddrPort("10.0.0.7:8080")
	now := time.Now()
	for name, try := range map[string]func() (gpid.GPID, error){
		"no address":  func() (gpid.GPID, error) { return gpid.New(netip.AddrPort{}, now, 1) },
		"zone":        func() (gpid.GPID, error) { return gpid.New(netip.MustParseAddrPort("[fe80::1%a]:1"), now, 1) },
		"clock unset": func() (gpid.GPID, error) { return gpid.New(addr, time.Unix(0, 0), 1) },
		"far future":  func() (gpid.GPID, error) { return gpid.New(addr, now.AddDate(300, 0, 0), 1) },
		"pid 0":       func() (gpid.GPID, error) { return gpid.New(addr, now, 0) },
		"pid -1":      func() (gpid.GPID, error) { return gpid.New(addr, now, -1) },
	} {
		if g, err := try(); !errors.Is(err, gpid.ErrInvalid) || !g.IsZero() {
			t.Errorf("%s: %v, %v, want the zero GPID and ErrInvalid", name, g, err)
		}
	}
}

func TestZero(t *testing.T) {
	var zero gpid.GPID
	if !zero.IsZero() || zero.String() != "" || zero.PID() != 0 || !zero.Start().IsZero() || zero.Addr().IsValid() {
		t.Errorf("zero GPID: %q, pid %d, start %v, addr %v", zero, zero.PID(), zero.Start(), zero.Addr())
	}
	out, err := json.Marshal(struct {
		Empty gpid.GPID
		Left  gpid.GPID `json:",omitzero"`
	}{})
	if want := `{"Empty":""}`; err != nil || string(out) != want {
		t.Errorf("JSON of the zero GPID: %s, %v, want %s", out, err, want)
	}
	set := gpid.MustParse(known[0].text)
	if err := json.Unmarshal([]byte(`""`), &set); err != nil || !set.IsZero() {
		t.Errorf(`JSON "" = %v, %v, want the zero GPID`, set, err)
	}
}

func TestCompareOrdersRunsByStart(t *testing.T) {
	ordered := []string{
		"[::1]:1:1795166651598985:1",
		"9.0.0.7:8080:1795166651598985:1",
		"10.0.0.7:8080:1095166651598985:9",
		"10.0.0.7:8080:1795166651598985:4711",
		"10.0.0.7:8080:1795166651598985:4712",
		"10.0.0.7:8080:1795166651598986:1",
		"10.0.0.7:9000:1095166651598985:1",
		"[2001:db8::1]:80:1795166651598985:1",
	}
	gpids := make([]gpid.GPID, len(ordered))
	for i, text := range ordered {
		gpids[len(ordered)-1-i] = gpid.MustParse(text)
	}
	slices.SortFunc(gpids, gpid.GPID.Compare)
	for i, g := range gpids {
		if g.String() != ordered[i] {
			t.Errorf("position %d: %v, want %v", i, g, ordered[i])
		}
	}
}

func TestFailedDecodingLeavesTheTarget(t *testing.T) {
	want := gpid.MustParse(known[0].text)
	bad := make([]byte, gpid.Size)
	copy(bad, "0123456789abcdef0123456789abcdef")
	for name, decode := range map[string]func(*gpid.GPID) error{
		"text":          func(g *gpid.GPID) error { return g.UnmarshalText([]byte("x")) },
		"json":          func(g *gpid.GPID) error { return json.Unmarshal([]byte(`"1:2:3:4"`), g) },
		"binary":        func(g *gpid.GPID) error { return g.UnmarshalBinary(bad) },
		"binary short":  func(g *gpid.GPID) error { return g.UnmarshalBinary(bad[:31]) },
		"binary empty":  func(g *gpid.GPID) error { return g.UnmarshalBinary(nil) },
		"bson type":     func(g *gpid.GPID) error { return g.UnmarshalBSONValue(0x05, bad) },
		"bson null":     func(g *gpid.GPID) error { return g.UnmarshalBSONValue(0x0A, bad) },
		"bson length":   func(g *gpid.GPID) error { return g.UnmarshalBSONValue(0x02, []byte("\x09\x00\x00\x00abc\x00")) },
		"bson no end":   func(g *gpid.GPID) error { return g.UnmarshalBSONValue(0x02, []byte("\x04\x00\x00\x00abcd")) },
		"bson no bytes": func(g *gpid.GPID) error { return g.UnmarshalBSONValue(0x02, nil) },
	} {
		g := want
		if err := decode(&g); err == nil || g != want {
			t.Errorf("%s: %v, %v, want an error and %v", name, g, err, want)
		}
	}
}

func TestBinaryRefusesPIDAbove32Bits(t *testing.T) {
	g := gpid.MustParse(known[0].text)
	b, _ := g.MarshalBinary()
	b[26] = 1
	if err := g.UnmarshalBinary(b); !errors.Is(err, gpid.ErrInvalid) {
		t.Errorf("pid of 48 bits: %v, want ErrInvalid", err)
	}
}

// roundTrip checks that every form of g reads back as g.
func roundTrip(t *testing.T, g gpid.GPID) {
	t.Helper()
	var text, binary, bson gpid.GPID
	b, _ := g.MarshalText()
	if err := text.UnmarshalText(b); err != nil || text != g {
		t.Errorf("text of %v: %v, %v", g, text, err)
	}
	b, _ = g.MarshalBinary()
	if err := binary.UnmarshalBinary(b); err != nil || binary != g || len(b) != gpid.Size {
		t.Errorf("%d bytes of %v: %v, %v", len(b), g, binary, err)
	}
	typ, b, _ := g.MarshalBSONValue()
	if err := bson.UnmarshalBSONValue(typ, b); err != nil || bson != g {
		t.Errorf("BSON of %v: %v, %v", g, bson, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, k := range known {
		f.Add(k.text)
	}
	f.Add("[::ffff:1.2.3.4]:1:1795166651598985:1")
	f.Fuzz(func(t *testing.T, s string) {
		g, err := gpid.Parse(s)
		if err != nil {
			if !errors.Is(err, gpid.ErrInvalid) || !g.IsZero() {
				t.Errorf("Parse(%q) = %v, %v", s, g, err)
			}
			return
		}
		if g.String() != s {
			t.Errorf("Parse(%q).String() = %q: two forms of one GPID", s, g.String())
		}
		roundTrip(t, g)
	})
}

func FuzzUnmarshalBinary(f *testing.F) {
	for _, k := range known {
		b, _ := gpid.MustParse(k.text).MarshalBinary()
		f.Add(b)
	}
	f.Add(make([]byte, gpid.Size))
	f.Fuzz(func(t *testing.T, data []byte) {
		var g gpid.GPID
		if err := g.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, gpid.ErrInvalid) || !g.IsZero() {
				t.Errorf("%x: %v, %v", data, g, err)
			}
			return
		}
		if again, _ := g.MarshalBinary(); string(again) != string(data) {
			t.Errorf("%x reads as %v, which is %x", data, g, again)
		}
		roundTrip(t, g)
	})
}

func FuzzUnmarshalBSONValue(f *testing.F) {
	for _, k := range known {
		typ, b, _ := gpid.MustParse(k.text).MarshalBSONValue()
		f.Add(typ, b)
	}
	f.Add(byte(0x0A), []byte(nil))
	f.Fuzz(func(t *testing.T, typ byte, data []byte) {
		var g gpid.GPID
		if g.UnmarshalBSONValue(typ, data) != nil {
			return
		}
		if typ2, again, _ := g.MarshalBSONValue(); typ2 != typ || string(again) != string(data) {
			t.Errorf("%x %x reads as %v, which is %x %x", typ, data, g, typ2, again)
		}
		roundTrip(t, g)
	})
}

func TestAppendDoesNotAllocate(t *testing.T) {
	g := gpid.MustParse(known[1].text)
	buf := make([]byte, 0, 128)
	for name, appendTo := range map[string]func([]byte) ([]byte, error){
		"AppendText":   encoding.TextAppender(g).AppendText,
		"AppendBinary": encoding.BinaryAppender(g).AppendBinary,
	} {
		if n := testing.AllocsPerRun(100, func() { _, _ = appendTo(buf) }); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
