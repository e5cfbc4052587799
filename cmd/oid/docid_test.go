package main

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/internal/testenv"
)

// TestDocIDs holds that get, find --after and delete take every _id that find lists, of any type
// that a collection of MongoDB can hold, and also the notations of the shell.
func TestDocIDs(t *testing.T) {
	uri := testenv.MongoDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OID_STORE", uri)
	id, err := bson.ObjectIDFromHex("6592008029c8c3e4dc762509") // FerretDB takes an ObjectId and a string of equal digits for duplicates
	if err != nil {
		t.Fatal(err)
	}
	c := client.Database(strings.TrimPrefix(u.Path, "/")).Collection("any")
	for _, id := range []any{
		7, 1.5, int64(1) << 40, "alice", "6592008029c8c3e4dc762501", "6592008029c8c3e4dc762502", id,
		bson.D{{Key: "user", Value: "x"}, {Key: "day", Value: 3}},
		bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")},
		bson.Binary{Subtype: 0, Data: []byte("bytes")},
		bson.NewDateTimeFromTime(time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)), true,
	} {
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Fatalf("%v: %v", id, err)
		}
	}
	find := func(args ...string) (ids []string) {
		got := oid(t, "", append([]string{"find", "any"}, args...)...)
		for line := range strings.Lines(got.out) {
			var doc struct {
				ID json.RawMessage `json:"_id"`
			}
			if err := json.Unmarshal([]byte(line), &doc); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			ids = append(ids, string(doc.ID))
		}
		return ids
	}
	all := find()
	if len(all) != 12 {
		t.Fatalf("find lists %q", all)
	}
	for _, flags := range [][]string{nil, {"--desc"}} {
		var paged []string
		for next := find(append(flags, "-n", "1")...); len(next) == 1; next = find(append(flags, "-n", "1", "--after", next[0])...) {
			if paged = append(paged, next[0]); len(paged) > len(all) {
				t.Fatalf("%v one by one does not end: %q", flags, paged)
			}
		}
		want := slices.Clone(all)
		if flags != nil {
			slices.Reverse(want)
		}
		if !slices.Equal(paged, want) {
			t.Errorf("%v one by one: %q, want %q", flags, paged, want)
		}
	}
	for _, id := range all {
		if got := oid(t, "", "get", "any", id); got.code != exitDone || got.out != `{"_id":`+id+"}\n" {
			t.Errorf("get %s: %+v", id, got)
		}
	}
	for _, id := range []string{`UUID("30313233-3435-3637-3839-616263646566")`, "30313233-3435-3637-3839-616263646566", `new UUID('30313233-3435-3637-3839-616263646566')`, `new Date("2026-11-03T00:00:00Z")`, `ISODate("2026-11-03T00:00:00Z")`, `new ObjectId('6592008029c8c3e4dc762509')`, `{"user":"x","day":3}`} {
		if got := oid(t, "", "get", "any", id); got.code != exitDone || strings.Count(got.out, "\n") != 1 {
			t.Errorf("get %s: %+v", id, got)
		}
	}

	// An array is never an _id.
	if got := oid(t, "", "get", "any", "[7]"); got.code != exitUsage || !strings.Contains(got.err, "[7]") {
		t.Errorf("get of an array: %+v", got)
	}
	// A time range also holds after an ObjectId.
	if got := oid(t, "", "find", "any", "--from", "2024-01-01", "--after", "6592008029c8c3e4dc762508"); strings.Count(got.out, "\n") != 1 {
		t.Errorf("find --from --after: %+v", got)
	}

	// A time range leaves out other types, which is said.
	got := oid(t, "", "find", "any", "--from", "2024-01-01", "--count")
	if got.out != "1\n" || got.err != "oid: 11 documents are left out: their _id is no ObjectId; \"oid find --strings\" selects ids that are stored as strings\n" {
		t.Errorf("find --from: %+v", got)
	}
	got = oid(t, "", "find", "any", "--from", "2024-01-01", "--strings")
	if strings.Count(got.out, "\n") != 2 || got.err != "oid: 1 document is left out: their _id is an ObjectId\n" {
		t.Errorf("find --from --strings: %+v", got)
	}
	for _, id := range all {
		if got := oid(t, "", "delete", "any", id); got.code != exitDone || got.out != "1\n" {
			t.Errorf("delete %s: %+v", id, got)
		}
		if got := oid(t, "", "delete", "any", id); got.code != exitFailed || got.out != "0\n" || !strings.Contains(got.err, "not found: no document has the _id ") {
			t.Errorf("delete %s again: %+v", id, got)
		}
	}
}

// TestOtherTypes holds that no store passes off a document whose _id has another type as missing:
// get and delete say how it is asked for, and a time range says what it leaves out.
func TestOtherTypes(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		const text, id = "65fae98029c8c3e4dc762501", "65fae98029c8c3e4dc762502"
		in := `{"_id":"` + text + `"}` + "\n" + `{"_id":{"$oid":"` + id + `"}}` + "\n" + `{"_id":17}` + "\n" + `{"_id":"18"}` + "\n"
		if got := oid(t, in, "insert", "c"); got.code != exitDone {
			t.Fatalf("%+v", got)
		}
		for asked, want := range map[string]string{
			text:                       `, but a document has the _id "` + text + `", of another type; write '"` + text + `"'`,
			strings.ToUpper(text):      `, but a document has the _id "` + text + `", of another type; write '"` + text + `"'`,
			`"` + id + `"`:             `, but a document has the _id ` + id + `, of another type; write ` + id,
			`"17"`:                     `, but a document has the _id 17, of another type; write 17`,
			"18":                       `, but a document has the _id "18", of another type; write '"18"'`,
			"65fae98029c8c3e4dc7625ff": "", "19": "", `"x"`: "",
		} {
			for _, command := range []string{"get", "delete"} {
				got := oid(t, "", command, "c", asked)
				if got.code != exitFailed || !strings.HasSuffix(got.err, want+"\n") || want == "" && strings.Contains(got.err, "but a document") {
					t.Errorf("%s %s: %+v, want %s", command, asked, got, want)
				}
			}
		}
		for _, asked := range []string{`"` + text + `"`, `ObjectId("` + id + `")`, `{"$oid":"` + id + `"}`, `{"$numberInt":"17"}`} {
			if got := oid(t, "", "get", "c", asked); got.code != exitDone || got.err != "" {
				t.Errorf("get %s: %+v", asked, got)
			}
		}
		const left = "oid: 3 documents are left out: their _id is no ObjectId; \"oid find --strings\" selects ids that are stored as strings\n"
		if got := oid(t, "", "find", "c", "--from", "2024-01-01"); got.code != exitDone || got.err != left || strings.Count(got.out, "\n") != 1 {
			t.Errorf("find: %+v", got)
		}
		for _, test := range []struct{ from, to, want string }{
			{"2024-03-20T13:49:52Z", "2024-03-20T13:49:53Z", "1\n"}, {"2024-03-20T13:49:53Z", "2030-01-01", "0\n"}, {"2000-01-01", "2024-03-20T13:49:52Z", "0\n"},
		} {
			if got := oid(t, "", "find", "c", "--strings", "--count", "--from", test.from, "--to", test.to); got.out != test.want || got.err != "oid: 1 document is left out: their _id is an ObjectId\n" {
				t.Errorf("find --strings from %s to %s: %+v", test.from, test.to, got)
			}
		}
		if got := oid(t, "", "find", "c", "--strings"); got.code != exitUsage {
			t.Errorf("find --strings without a time: %+v", got)
		}
		// A string between two ids is not an id.
		if got := oid(t, `{"_id":"65fae98000"}`+"\n"+`{"_id":"`+text+`"}`+"\n", "insert", "between"); got.code != exitDone {
			t.Fatalf("%+v", got)
		}
		if got := oid(t, "", "find", "between", "--strings", "--from", "2024-01-01", "--count"); got.out != "1\n" {
			t.Errorf("find --strings --count: %+v", got)
		}
		if got := oid(t, "", "find", "between", "--strings", "--from", "2024-01-01", "--limit", "1"); got.out != `{"_id":"`+text+`"}`+"\n" {
			t.Errorf("find --strings --limit: %+v", got)
		}
		if got := oid(t, "", "find", "c"); got.err != "" || strings.Count(got.out, "\n") != 4 {
			t.Errorf("find of all: %+v", got)
		}
		if got := oid(t, "", "delete", "c", "--to", "2024-01-01"); got.out != "0\n" || got.err != left {
			t.Errorf("delete: %+v", got)
		}
		if got := oid(t, "", "delete", "c", `"`+text+`"`); got.out != "1\n" {
			t.Errorf("delete of a string: %+v", got)
		}
		if got := oid(t, "", "find", "c", "--from", "2024-01-01"); got.err != "oid: 2 documents are left out: their _id is no ObjectId and has no time\n" {
			t.Errorf("find: %+v", got)
		}
	})
}
