package timerange

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// berlin is the zone of the programs that print times, and of those who paste them.
func berlin(t testing.TB) *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// printed has a time as a program prints it, and the digits that are kept of the fraction of
// its second.
type printed struct {
	text     string
	fraction string
}

// julyTimes are the ways in which programs print 2019-07-25T08:00:00.123456789Z in the zone of
// Berlin.
var julyTimes = []struct {
	program string
	args    []string
	texts   []printed
}{
	{"date", []string{"-R"}, []printed{{"Thu, 25 Jul 2019 10:00:00 +0200", ""}}},
	{"date", []string{"-Iseconds"}, []printed{{"2019-07-25T10:00:00+02:00", ""}}},
	{"date", []string{"-Ins"}, []printed{{"2019-07-25T10:00:00,123456789+02:00", "123456789"}}},
	{"date", []string{"--rfc-3339=ns"}, []printed{{"2019-07-25 10:00:00.123456789+02:00", "123456789"}}},
	{"date", []string{"-u"}, []printed{{"Thu Jul 25 08:00:00 UTC 2019", ""}}},
	{"date", []string{"-u", "+%Y%m%dT%H%M%SZ"}, []printed{{"20190725T080000Z", ""}}},
	{"date", []string{"+%c"}, []printed{{"Thu Jul 25 10:00:00 2019", ""}}},
	{"node", []string{"-e", `
const t = new Date(1564041600123);
console.log(String(t)); console.log(t.toUTCString()); console.log(t); console.log(JSON.stringify(t));
console.log(t.toLocaleString("en-US", {dateStyle: "medium", timeStyle: "medium"})); console.log(t.toLocaleString("sv"));`}, []printed{
		{"Thu Jul 25 2019 10:00:00 GMT+0200 (Central European Summer Time)", ""},
		{"Thu, 25 Jul 2019 08:00:00 GMT", ""},
		{"2019-07-25T08:00:00.123Z", "123"},
		{`"2019-07-25T08:00:00.123Z"`, "123"},
		{"Jul 25, 2019, 10:00:00 AM", ""},
		{"2019-07-25 10:00:00", ""},
	}},
	{"ruby", []string{"-rtime", "-rjson", "-rbson", "-e", `
t = Time.at(1564041600, 123456789, :nsec).localtime
puts t, t.dup.utc, t.inspect, t.iso8601(3), t.rfc2822, t.httpdate, t.ctime
puts t.as_extended_json.to_json, BSON::Timestamp.new(1564041600, 1).to_json`}, []printed{
		{"2019-07-25 10:00:00 +0200", ""},
		{"2019-07-25 08:00:00 UTC", ""},
		{"2019-07-25 10:00:00.123456789 +0200", "123456789"},
		{"2019-07-25T10:00:00.123+02:00", "123"},
		{"Thu, 25 Jul 2019 10:00:00 +0200", ""},
		{"Thu, 25 Jul 2019 08:00:00 GMT", ""},
		{"Thu Jul 25 10:00:00 2019", ""},
		{`{"$date":{"$numberLong":"1564041600123"}}`, "123"},
		{`{"$timestamp":{"t":1564041600,"i":1}}`, ""},
	}},
	{"php", []string{"-r", `
$t = DateTime::createFromFormat("U.u", "1564041600.123456")->setTimezone(new DateTimeZone("Europe/Berlin"));
foreach ([DATE_ATOM, DATE_ISO8601, DATE_RFC2822, DATE_RFC3339_EXTENDED, "Y/m/d H:i:s"] as $f) echo $t->format($f), "\n";
echo $t->setTimezone(new DateTimeZone("UTC"))->format(DATE_COOKIE), "\n";
echo json_encode(new MongoDB\BSON\UTCDateTime(1564041600123)), "\n";`}, []printed{
		{"2019-07-25T10:00:00+02:00", ""},
		{"2019-07-25T10:00:00+0200", ""},
		{"Thu, 25 Jul 2019 10:00:00 +0200", ""},
		{"2019-07-25T10:00:00.123+02:00", "123"},
		{"2019/07/25 10:00:00", ""},
		{"Thursday, 25-Jul-2019 08:00:00 UTC", ""},
		{`{"$date":{"$numberLong":"1564041600123"}}`, "123"},
	}},
	{"/usr/bin/python3", []string{"-c", `
import bson, datetime, email.utils, logging, time
from bson import json_util
t = datetime.datetime.fromtimestamp(1564041600.123456).astimezone()
local = t.replace(tzinfo=None)
print(t, t.isoformat(), local, local.isoformat(), time.ctime(1564041600), email.utils.formatdate(1564041600), sep="\n")
print(logging.Formatter("%(asctime)s").format(logging.makeLogRecord({"created": 1564041600.123, "msecs": 123})))
print(bson.Timestamp(1564041600, 1), json_util.dumps(t), json_util.dumps(bson.Timestamp(1564041600, 1)), sep="\n")`}, []printed{
		{"2019-07-25 10:00:00.123456+02:00", "123456"},
		{"2019-07-25T10:00:00.123456+02:00", "123456"},
		{"2019-07-25 10:00:00.123456", "123456"},
		{"2019-07-25T10:00:00.123456", "123456"},
		{"Thu Jul 25 10:00:00 2019", ""},
		{"Thu, 25 Jul 2019 08:00:00 -0000", ""},
		{"2019-07-25 10:00:00,123", "123"},
		{"Timestamp(1564041600, 1)", ""},
		{`{"$date": 1564041600123}`, "123"},
		{`{"$timestamp": {"t": 1564041600, "i": 1}}`, ""},
	}},
	{"java", []string{"-cp", "/usr/share/java/bson.jar", "testdata/Times.java"}, []printed{
		{"Thu Jul 25 10:00:00 GMT+02:00 2019", ""},
		{"2019-07-25T08:00:00.123456789Z", "123456789"},
		{"2019-07-25T10:00:00.123456789+02:00[Europe/Berlin]", "123456789"},
		{"2019-07-25T10:00:00.123+0200", "123"},
		{"2019-07-25 10:00:00.123", "123"},
		{"Thu, 25 Jul 2019 10:00:00 +0200", ""},
		{"Timestamp{value=6717507521583513601, seconds=1564041600, inc=1}", ""},
		{"BsonDateTime{value=1564041600123}", "123"},
		{`ISODate("2019-07-25T08:00:00.123Z")`, "123"},
		{"Timestamp(1564041600, 1)", ""},
	}},
	{"mongosh", []string{"--nodb", "--quiet", "--norc", "--eval", `
const t = new Date(1564041600123);
print(ISODate(t.toISOString())); print(Timestamp({ t: 1564041600, i: 1 }));
console.log(EJSON.stringify(t)); console.log(EJSON.stringify(t, { relaxed: false }));
console.log(EJSON.stringify(ObjectId("5d3961806e04eed8a4d7d1bc"))); print(ObjectId("5d3961806e04eed8a4d7d1bc"));`}, []printed{
		{"ISODate('2019-07-25T08:00:00.123Z')", "123"},
		{"Timestamp({ t: 1564041600, i: 1 })", ""},
		{`{"$date":"2019-07-25T08:00:00.123Z"}`, "123"},
		{`{"$date":{"$numberLong":"1564041600123"}}`, "123"},
		{`{"$oid":"5d3961806e04eed8a4d7d1bc"}`, ""},
		{"ObjectId('5d3961806e04eed8a4d7d1bc')", ""},
	}},
	{"psql", []string{"-Atc", "SET TIME ZONE 'Europe/Berlin'", "-c", "SELECT timestamptz '2019-07-25 08:00:00.123456Z', timestamptz '2019-07-25 08:00Z', timestamp '2019-07-25 10:00'"}, []printed{
		{"2019-07-25 10:00:00.123456+02", "123456"},
		{"2019-07-25 10:00:00+02", ""},
		{"2019-07-25 10:00:00", ""},
	}},
}

// TestPrograms parses times as the programs of this machine print them.
func TestPrograms(t *testing.T) {
	for _, p := range julyTimes {
		t.Run(filepath.Base(p.program)+" "+fmt.Sprintf("%.20s", p.args[0]), func(t *testing.T) {
			args := p.args
			var path string
			switch p.program {
			case "date":
				path, args = testenv.Program(t, "date", "coreutils"), append([]string{"-d", "@1564041600.123456789"}, args...)
			case "mongosh":
				testenv.Long(t, "starts mongosh")
				path = testenv.Mongosh(t)
			case "psql":
				path, args = testenv.Program(t, "psql", "postgresql-client"), append([]string{testenv.PostgresURL(t)}, args...)
			case "java":
				testenv.Long(t, "compiles Java")
				path = testenv.Program(t, "java", "default-jdk-headless libmongodb-java")
			default:
				path = testenv.Program(t, p.program, "php-cli php-mongodb ruby-bson nodejs python3-pymongo")
			}
			cmd := exec.Command(path, args...)
			cmd.Env = append(os.Environ(), "TZ=Europe/Berlin", "LC_ALL=C", "JAVA_TOOL_OPTIONS=")
			out, err := cmd.Output()
			testenv.NoError(t, err)
			got := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(out), "|", "\n")), "\n")
			if p.program == "psql" {
				got = got[1:] // SET
			}
			for i, text := range p.texts {
				if i >= len(got) || got[i] != text.text {
					t.Errorf("line %d is not %q: %q", i+1, text.text, got)
				}
			}
			if len(got) != len(p.texts) {
				t.Errorf("%d lines, want %d", len(got), len(p.texts))
			}
		})
	}
}

// wrongVectors returns those of the vectors that Parse does not read as it should.
func wrongVectors(now time.Time) (wrong []string) {
	for _, p := range julyTimes {
		for _, v := range p.texts {
			want := time.Date(2019, 7, 25, 8, 0, 0, 0, time.UTC)
			if v.fraction != "" {
				d, _ := time.ParseDuration("0." + v.fraction + "s")
				want = want.Add(d)
			}
			if got, err := Parse(v.text, now); err != nil || !got.Equal(want) {
				wrong = append(wrong, fmt.Sprintf("Parse(%q) = %v, %v, want %v", v.text, got, err, want))
			}
		}
	}
	for text, want := range otherTimes {
		if got, err := Parse(text, now); err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			wrong = append(wrong, fmt.Sprintf("Parse(%q) = %v, %v, want %s", text, got, err, want))
		}
	}
	return wrong
}

// otherTimes are times of programs that print only the present, or that are not on every
// machine.
var otherTimes = map[string]string{
	"2026-11-20":                                 "2026-11-19T23:00:00Z",
	"2026-11-20T14":                              "2026-11-20T13:00:00Z",
	"2026-11-20T14:00":                           "2026-11-20T13:00:00Z",
	"25/Jul/2019:10:00:00 +0300":                 "2019-07-25T07:00:00Z", // nginx
	"[25/Jul/2019:10:00:00 +0200]":               "2019-07-25T08:00:00Z",
	"25 Jul 2019 10:00:00.123":                   "2019-07-25T08:00:00.123Z",       // Redis
	"Thu Jul 25 10:00:00 2019 +0200":             "2019-07-25T08:00:00Z",           // git
	"Fri Jul  5 10:00:00 2019":                   "2019-07-05T08:00:00Z",           // C
	"[Thu Jul 25 10:00:00.123456 2019]":          "2019-07-25T08:00:00.123456Z",    // Apache
	"Thu 2019-07-25 08:00:00 UTC":                "2019-07-25T08:00:00Z",           // systemd
	"Thu Jul 25 10:00:00 AM UTC 2019":            "2019-07-25T10:00:00Z",           // date in en_US
	"Thu Jul 25 12:00:00 AM 2019":                "2019-07-24T22:00:00Z",           // an hour of 12
	"25-Jul-2019 10:00:00.123":                   "2019-07-25T08:00:00.123Z",       // Tomcat
	"Thu, 25 Jul 2019 08:00:00.123 UTC +00:00":   "2019-07-25T08:00:00.123Z",       // Rails
	"2019-07-25 10:00:00.5 +0200 CEST m=+0.1":    "2019-07-25T08:00:00.5Z",         // Go
	"2019-07-25 10:00:00 -0300 -03":              "2019-07-25T13:00:00Z",           // Go
	"2019-07-25 10:00:00 +05:30:20":              "2019-07-25T04:29:40Z",           // psql, zones before 1900
	"new Date(1564041600123)":                    "2019-07-25T08:00:00.123Z",       // mongo
	`new Date("2019-07-25T10:00:00+02:00")`:      "2019-07-25T08:00:00Z",           // JavaScript
	"Date(-1)":                                   "1969-12-31T23:59:59.999Z",       // PHP
	`{ "$date" : "2019-07-25T10:00:00.000+02" }`: "2019-07-25T08:00:00Z",           // mongoexport
	"'2019-07-25 10:00:00.1234567'":              "2019-07-25T08:00:00.1234567Z",   // .NET
	"2019-07-25T10:00:00.1234567891Z":            "2019-07-25T10:00:00.123456789Z", // truncated
	`"ISODate('2019-07-25T08:00:00Z')"`:          "2019-07-25T08:00:00Z",           // wrapped twice
	"20190725T100000":                            "2019-07-25T08:00:00Z",
	`NumberLong("1564041600")`:                   "2019-07-25T08:00:00Z", // mongo
	`{"$numberLong":"1564041600"}`:               "2019-07-25T08:00:00Z", // mongoexport
}

// TestFormsAreNeeded removes each row of the tables of forms: then a vector must fail.
func TestFormsAreNeeded(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, berlin(t))
	for _, wrong := range wrongVectors(now) {
		t.Error(wrong)
	}
	allLayouts, allWrappings := layouts, wrappings
	defer func() { layouts, wrappings = allLayouts, allWrappings }()
	for i, layout := range allLayouts {
		if layouts = slices.Delete(slices.Clone(allLayouts), i, i+1); wrongVectors(now) == nil {
			t.Errorf("no vector needs the layout %q", layout)
		}
	}
	layouts = allLayouts
	for i, w := range allWrappings {
		if wrappings = slices.Delete(slices.Clone(allWrappings), i, i+1); wrongVectors(now) == nil {
			t.Errorf("no vector needs the wrapping %v", w.match.Get())
		}
	}
}

// TestRefusedForms reads times that mean different moments to different programs or people.
func TestRefusedForms(t *testing.T) {
	for in, want := range map[string]string{
		"01/02/2026":                      "write the year first",
		"25/07/2019 10:00":                "write the year first",
		"7/25/2019, 10:00:00 AM":          "write the year first",
		"25.07.19":                        "write the year first",
		"Thursday, 25-Jul-19 10:00:00 MT": "the year has two digits",
		"Jul 25 10:00:00":                 "it has no year",
		"Thu Jul 25 10:00:00 CEST 2019":   "zone CEST: names of zones are ambiguous; write the offset from UTC instead, as in 2019-07-25T10:00:00+HH:MM",
		"2019-07-25 10:00:00 IST":         "zone IST: names",
		"2019-07-25 10:00:00 CST-0600":    "want RFC 3339",
		"2019-07-25 10:00:00 GMT+2":       "two hours behind UTC",
		"2019-07-25 10:00:00 Z+02:00":     "want RFC 3339",
		"2019-07-25 10:00:00+24:00":       "want RFC 3339",
		"2019-07-25 10:00:00+02:60":       "want RFC 3339",
		"Fri Jul 25 10:00:00 2019":        "2019-07-25 is a Thursday",
		"2019-02-29 10:00:00+02":          "no such date or time: day out of range",
		"2019-07-25T10:00:60Z":            "no such date or time: second out of range",
		"25/Foo/2019:10:00:00 +0200":      "want RFC 3339",
		"ISODate('2019-13-01')":           "month out of range",
		"ISODate('soon')":                 "want RFC 3339",
		`'2019-07-25"`:                    "want RFC 3339",
		"new Date(2019, 6, 25)":           "want RFC 3339",
		"Date(9223372036854775807)":       "beyond the year 9999",
		"Date(99999999999999999999)":      "beyond the year 9999",
		"Timestamp(99999999999999, 1)":    "beyond the year 9999",
		`{"$date":{"$numberLong":"1"`:     "want RFC 3339",
		"10:00:00 today":                  "zone TODAY: names",
		"tuesday 9:00":                    "want RFC 3339",
	} {
		if got, err := Parse(in, time.Date(2026, 11, 20, 12, 0, 0, 0, berlin(t))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, %v, want an error with %q", in, got, err, want)
		}
	}
}

// TestGoTimes reads what the package time prints, with its reading of a monotonic clock.
func TestGoTimes(t *testing.T) {
	now := time.Now().In(berlin(t))
	for _, text := range []string{now.String(), now.UTC().String(), now.Format(time.RFC1123Z), now.UTC().Format(time.RFC1123), now.Format(time.ANSIC), now.Format(time.RubyDate), now.Format(time.RFC3339Nano), now.UTC().Format(time.UnixDate)} {
		if got, err := Parse(text, now); err != nil || !got.Truncate(time.Second).Equal(now.Truncate(time.Second)) {
			t.Errorf("Parse(%q) = %v, %v", text, got, err)
		}
	}
}

// TestNginxTimes reads the time of a request as nginx logs it.
func TestNginxTimes(t *testing.T) {
	nginx := testenv.Program(t, "nginx", "nginx-light")
	dir, port := t.TempDir(), testenv.FreePort(t)
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error; events {}
http { access_log %[1]s/access; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
server { listen 127.0.0.1:%[2]d; return 204; } }`, dir, port)
	testenv.NoError(t, os.WriteFile(dir+"/conf", []byte(config), 0o600))
	before := time.Now().Truncate(time.Second)
	testenv.Start(t, nginx, "-c", dir+"/conf", "-p", dir)
	var line string
	testenv.Await(t, "a line of nginx", func() error {
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
		if err != nil {
			return err
		}
		resp.Body.Close()
		log, err := os.ReadFile(dir + "/access")
		if line = string(log); err == nil && !strings.Contains(line, "\n") {
			err = fmt.Errorf("no line yet")
		}
		return err
	})
	_, rest, _ := strings.Cut(line, "[")
	text, _, _ := strings.Cut(rest, "]")
	now := time.Now()
	if got, err := Parse(cmp.Or(text, line), now.UTC()); err != nil || got.Before(before) || got.After(now) {
		t.Errorf("Parse(%q) = %v, %v, want between %v and %v", text, got, err, before, now)
	}
}
