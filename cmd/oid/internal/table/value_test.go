package table

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

const digits = "507f1f77bcf86cd799439011"

// TestValues reads the forms in which people store an id, and values that are no ids.
func TestValues(t *testing.T) {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	valueOf := func(of any) (v value) {
		_ = v.Scan(of) // which never fails
		return v
	}
	text := func(s string) value { return value{bytes: []byte(s), isText: true} }
	for _, v := range []value{
		{bytes: raw},
		{bytes: []byte(digits)},
		text(digits), text(digits + strings.Repeat(" ", 231)), text(`\x` + digits), text("0x" + digits), text("X'" + digits + "'"),
		text(`ObjectId("` + digits + `")`), text("ObjectId(" + digits + ")"), text(`{"$oid": "` + digits + `"}`), text("507F1F77BCF86CD799439011"), valueOf(raw), valueOf(digits),
	} {
		if id, ok := v.id(); !ok || id.String() != digits {
			t.Errorf("%q: %v, %v", v.bytes, id, ok)
		}
	}
	for _, test := range []struct {
		v    value
		of   string // type of the column
		want any    // the _id, or nil for none
	}{
		{value{}, "", nil},
		{value{bytes: []byte{}, isText: true}, "", nil},
		{valueOf(nil), "", nil},
		{text("twelve bytes"), "char(12)", "twelve bytes"},
		{text("a\xffb"), "", "a\ufffdb"},
		{value{bytes: []byte("in a column of bytes")}, "", "in a column of bytes"},
		{value{bytes: []byte("Rheumatology")}, "binary(12)", "Rheumatology"},
		{value{bytes: []byte("数据分析")}, "blob", "数据分析"},
		{value{bytes: raw[:11]}, "", bson.Binary{Data: raw[:11]}},
		{text("67e55044-10b1-426f-9247-bb680e5fe0c8"), "uuid", bson.Binary{Subtype: 4, Data: []byte("\x67\xe5\x50\x44\x10\xb1\x42\x6f\x92\x47\xbb\x68\x0e\x5f\xe0\xc8")}},
		{text("67e55044-10b1-426f-9247-bb680e5fe0c8"), "text", "67e55044-10b1-426f-9247-bb680e5fe0c8"},
		{text("broken"), "UUID", "broken"},
		{valueOf(int64(7)), "", int64(7)},
		{valueOf(1.5), "", 1.5},
		{valueOf(true), "", true},
		{valueOf(time.UnixMilli(5)), "", bson.DateTime(5)},
	} {
		if id, ok := test.v.id(); ok {
			t.Errorf("%+v is the id %v", test.v, id)
		}
		doc, err := test.v.document(Column{Type: test.of})
		var got struct {
			ID any `bson:"_id"`
		}
		if err == nil {
			err = bson.Unmarshal(doc, &got)
		}
		want, isBinary := test.want.(bson.Binary)
		if b, ok := got.ID.(bson.Binary); ok && isBinary && b.Subtype == want.Subtype && bytes.Equal(b.Data, want.Data) && err == nil {
			continue
		}
		if isBinary || err != nil || got.ID != test.want {
			t.Errorf("%+v: %#v, %v, want %#v", test.v, got.ID, err, test.want)
		}
	}
	if _, ok := text(`{"$oid":"` + digits + `"` + strings.Repeat(" ", maxText) + `}`).id(); ok {
		t.Error("a long text is an id")
	}
}

// TestMySQLConfig reads URLs of MySQL.
func TestMySQLConfig(t *testing.T) {
	t.Setenv("MYSQL_PWD", "of the environment")
	for url, want := range map[string][5]string{
		"mysql://me:pass%2Fword@h:3307/shop":         {"tcp", "h:3307", "pass/word", "preferred", "shop"},
		"mysql://me@h/shop?tls=skip-verify":          {"tcp", "h:3306", "of the environment", "skip-verify", "shop"},
		"mysql://me:@/shop?socket=/run/s&timeout=9s": {"unix", "/run/s", "", "", "shop"},
	} {
		c, err := mysqlConfig(url)
		if err != nil || [5]string{c.Net, c.Addr, c.Passwd, c.TLSConfig, c.DBName} != want || c.User != "me" {
			t.Errorf("%s: %+v, %v, want %q", url, c, err, want)
		}
		if wait := map[bool]time.Duration{false: connectTimeout, true: 9 * time.Second}[c.Net == "unix"]; c.Timeout != wait {
			t.Errorf("%s: timeout %v, want %v", url, c.Timeout, wait)
		}
	}
	for _, url := range []string{"mysql:///shop", "mysql://u:secret@h/shop?tls=bogus", "mysql://u:sec ret@h/%zz"} {
		if db, _, err := openMySQL(url); err == nil || !strings.Contains(err.Error(), "invalid URL: ") || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: %v, %v", url, db, err)
		}
	}
}

// FuzzValue reads any bytes as an id or writes them as a short BSON document.
func FuzzValue(f *testing.F) {
	f.Add([]byte(digits), true, "text")
	f.Add([]byte("\x50\x7f\x1f\x77\xbc\xf8\x6c\xd7\x99\x43\x90\x11"), false, "bytea")
	f.Add([]byte("67e55044-10b1-426f-9247-bb680e5fe0c8"), true, "uuid")
	f.Add([]byte("\xff\x00\xed\xa0\x80"), true, "char(30)")
	f.Fuzz(func(t *testing.T, data []byte, isText bool, of string) {
		v := value{bytes: data, isText: isText}
		if id, ok := v.id(); ok {
			if len(data) < objectid.Size || !isText && len(data) == objectid.Size && !bytes.Equal(id[:], data) {
				t.Fatalf("%q is %v", data, id)
			}
			return
		}
		doc, err := v.document(Column{Type: of})
		if err != nil || bson.Raw(doc).Validate() != nil || len(doc) > 20+3*maxText {
			t.Fatalf("%q: document %q, %v", data, doc, err)
		}
	})
}

// FuzzNamed finds each table by the text that is shown for it, and by its name in quotes.
func FuzzNamed(f *testing.F) {
	f.Add("public", "orders", "a.b", true)
	f.Add("", `odd "name"`, "`", false)
	f.Add("a", "b.c", "a.b", true)
	f.Fuzz(func(t *testing.T, schema, name, other string, visible bool) {
		if name == "" {
			t.Skip() // no database has such a table
		}
		d := Database{Tables: []Table{{schema, name, visible || schema == ""}}, dialect: &dialects[0]}
		if other != name {
			d.Tables = append(d.Tables, Table{schema, other, visible || schema == ""})
		}
		for _, form := range []string{d.Tables[0].String(), d.quoted(schema, name)} {
			found := d.Named(form)
			if len(found) == 0 || found[0].name != name && len(found) == 1 {
				t.Fatalf("%q in %q finds %v", form, d.Tables, found)
			}
		}
	})
}
