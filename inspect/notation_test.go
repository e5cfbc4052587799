package inspect_test

import (
	"strings"
	"testing"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

const hex = "507f1f77bcf86cd799439011"

// TestNotations reads one id in every notation, by itself and as a scanned text.
func TestNotations(t *testing.T) {
	want := objectid.MustParse(hex)
	for _, text := range []string{
		hex, strings.ToUpper(hex), " " + hex + ";\r\n", "'" + hex + "',", `"` + hex + `"`, "`" + hex + "`", "[" + hex + "]", "\ufeff" + hex,
		`ObjectId("` + hex + `")`, "ObjectId('" + hex + "'),", "ObjectId(" + hex + ")", "ObjectID(`" + hex + "`)", `object_id( "` + hex + `" )`,
		`new ObjectId("` + hex + `")`, "new\tObjectId(\"" + hex + "\")", `bson.ObjectId("` + hex + `")`, `az.ObjectId("` + hex + `")`, `ZA.ObjectId("` + hex + `")`, `ObjectId.createFromHexString("` + hex + `");`,
		`{"$oid":"` + hex + `"}`, `"$oid": "` + hex + `"`, `{ '$oid' : '` + hex + `' }`,
		"x'" + hex + "'", "X'" + hex + "';", "0x" + hex, "0X" + hex, `\x` + hex,
	} {
		if got, ok := inspect.ParseObjectID(text); !ok || got != want {
			t.Errorf("ParseObjectID(%q) = %v, %v", text, got, ok)
		}
		if got := scan(strings.NewReader(text)); !strings.EqualFold(got, "1 "+hex+"\n") {
			t.Errorf("Scan(%q): %s", text, got)
		}
	}
	for _, text := range []string{
		"", hex[1:], hex + "0", "ObjectId(" + hex, "ObjectId(x" + hex + "x)", hex[1:] + "g", hex + " " + hex, `ObjectId("` + hex + `"`, `newObjectId("` + hex + `")`, `b1.ObjectId("` + hex + `")`,
		`ObjectId("` + hex + `"")`, `ObjectIds("` + hex + `")`, "x'" + hex[1:] + "g'", "0x" + hex[2:], `{"uid":"` + hex + `"}`, "a=" + hex,
		"507f1f77-bcf8-6cd7-9943-9011", strings.Repeat("(", 24), strings.Repeat("é", 12),
	} {
		if got, ok := inspect.ParseObjectID(text); ok {
			t.Errorf("ParseObjectID(%q) = %v", text, got)
		}
	}
}

// FuzzParseObjectID holds ParseObjectID to what Scan finds.
func FuzzParseObjectID(f *testing.F) {
	for _, text := range []string{hex, `new ObjectId("` + hex + `")`, "x'" + hex + "';", `{"$oid":"` + hex + `"}`, "a.UUID(`" + hex + "`)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := inspect.ParseObjectID(text)
		if !ok || strings.ContainsAny(text, "\r\n") {
			return
		}
		if got := scan(strings.NewReader(text)); !strings.Contains(strings.ToLower(got), " "+id.String()+"\n") {
			t.Errorf("ParseObjectID(%q) = %v, but Scan finds %s", text, id, got)
		}
	})
}
