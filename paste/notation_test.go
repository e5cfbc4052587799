package paste_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/paste"
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
		if got, ok := paste.ObjectID(text); !ok || got != want {
			t.Errorf("ObjectID(%q) = %v, %v", text, got, ok)
		}
		found := slices.Collect(paste.ScanString(text))
		if len(found) != 1 || found[0].Err != nil || !strings.EqualFold(found[0].Text, hex) {
			t.Errorf("ScanString(%q) = %+v", text, found)
		}
	}
	for _, text := range []string{
		"", hex[1:], hex + "0", "ObjectId(" + hex, "ObjectId(x" + hex + "x)", hex[1:] + "g", hex + " " + hex, `ObjectId("` + hex + `"`, `newObjectId("` + hex + `")`, `b1.ObjectId("` + hex + `")`,
		`ObjectId("` + hex + `"")`, `ObjectIds("` + hex + `")`, "x'" + hex[1:] + "g'", "0x" + hex[2:], `{"oid":"` + hex + `"}`, "a=" + hex,
		"507f1f77-bcf8-6cd7-9943-9011", strings.Repeat("(", 24), strings.Repeat("é", 12),
	} {
		if got, ok := paste.ObjectID(text); ok {
			t.Errorf("ObjectID(%q) = %v", text, got)
		}
	}
}

// FuzzObjectID holds ObjectID to what Scan finds.
func FuzzObjectID(f *testing.F) {
	for _, text := range []string{hex, `new ObjectId("` + hex + `")`, "x'" + hex + "';", `{"$oid":"` + hex + `"}`, "a.UUID(`" + hex + "`)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := paste.ObjectID(text)
		if !ok || strings.ContainsAny(text, "\r\n") {
			return
		}
		found := slices.Collect(paste.ScanString(text))
		if !slices.ContainsFunc(found, func(f paste.Found) bool { return strings.EqualFold(f.Text, id.String()) }) {
			t.Errorf("ObjectID(%q) = %v, but Scan finds %+v", text, id, found)
		}
	})
}
