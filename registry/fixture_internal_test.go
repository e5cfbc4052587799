package registry

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

var writeFixture = flag.Bool("write-fixture", false, "write the fixture of the stored format, if a field or the format is new")

// distinct sets every field in v to a value that no other has, from seed on.
func distinct(v reflect.Value, seed *int64) {
	*seed++
	n := *seed
	at := time.UnixMilli(1795285085000 + n*1001).UTC()
	switch p := v.Addr().Interface().(type) {
	case *objectid.ID:
		*p = objectid.MinAt(at)
		p[4], p[5], p[11] = byte(n), byte(n>>8), byte(n+1)
		return
	case *gpid.GPID:
		*p = gpid.MustParse(fmt.Sprintf("10.0.0.%d:%d:1795166651598985:%d", n, 8000+n, 4000+n))
		return
	case *time.Time:
		*p = at
		return
	case *time.Duration:
		*p = time.Duration(n) * 10 * time.Millisecond
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("bson") != "-" {
				distinct(v.Field(i), seed)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		distinct(v.Elem(), seed)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		distinct(v.Index(0), seed)
		distinct(v.Index(1), seed)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{fmt.Sprint("label ", n): fmt.Sprint("value ", n)}))
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d", v.Type().Name(), n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64, reflect.Uint32, reflect.Uint8:
		v.SetUint(uint64(n))
	default:
		v.SetInt(n)
	}
}

// stored are documents of each collection with every field set, and what they are read
// as.
func stored() (docs, read map[string]any) {
	var seed int64
	var p Process
	distinct(reflect.ValueOf(&p).Elem(), &seed)
	p.Block, p.Value = "a1b2c3d4", "a1b2c3d405"
	var all []Sample
	for range 3 {
		s := Sample{}
		distinct(reflect.ValueOf(&s).Elem(), &seed)
		all = append(all, s)
	}
	all = append(all, Sample{Time: all[2].Time.Add(time.Second), Load: noLoad}, Sample{Time: all[2].Time.Add(time.Minute)})
	rec := recordOf(p)
	rec.Final = true
	live := livingOf(&p, 2)
	live.key, live.write, live.recent, live.adopted = "a1b2c3d4:00000001", [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, all, true
	live.last.Load = all[4].Load
	idle := claim{Format: format, Idle: true}
	distinct(reflect.ValueOf(&idle).Elem(), &seed)
	idle.Key, idle.Format, idle.Essence = "b1b2c3d4", format, nil
	p.GPID = gpid.MustParse("[2001:db8::7]:8443:1795166651598985:4711")
	pruned, open := p, p
	pruned.Name, open.Name, open.End = "pruned", "open", nil
	pruned.Value, open.Value = pruned.Block, open.Block
	pruned.EvidenceID, open.EvidenceID = objectid.ID{}, objectid.ID{}
	adopted := p
	adopted.Name = "adopted"
	adopted.EvidenceID[4], adopted.EvidenceID[5], adopted.EvidenceID[6], adopted.EvidenceID[7] = 0xa1, 0xb2, 0xc3, 0xd4
	essence := func(p *Process, key string) claim { return claim{Key: key, Format: format, Essence: essenceOf(p)} }
	of := func(h claim) *Process {
		if err := h.expand(); err != nil {
			panic(err)
		}
		return h.Pruned
	}
	e1, e2, e3 := essence(&pruned, pruned.Block), essence(&open, open.Block), essence(&adopted, adopted.Value+":1795285085000:"+adopted.Block)
	docs = map[string]any{
		processRecords:              rec,
		livingRecords:               live,
		sampleRecords:               samplesDoc("a1b2c3d4", all),
		endedRecords:                endedDoc{Key: endedKey(p.Last.Time, rec.Key), Format: format},
		registryRecords:             marks{marksKey, format, p.From, p.Confirmed},
		claimRecords:                idle,
		claimRecords + " ended":     e1,
		claimRecords + " not ended": e2,
		claimRecords + " adopted":   e3,
	}
	return docs, map[string]any{
		livingRecords: live, sampleRecords: all,
		claimRecords + " ended": of(e1), claimRecords + " not ended": of(e2), claimRecords + " adopted": of(e3),
	}
}

// readAs decodes a document of a collection as the registry does, and returns it with its
// content.
func readAs(collection string, raw bson.Raw) (doc, content any, err error) {
	switch collection {
	case processRecords:
		d, err := decode[record](raw, collection)
		return d, nil, err
	case livingRecords:
		l, err := decode[living](raw, collection)
		l.raw = nil // no part of the content
		return l, l, err
	case sampleRecords:
		d, err := decode[sampleDoc](raw, collection)
		return samplesDoc("a1b2c3d4", d.samples), d.samples, err
	case endedRecords:
		d, err := decode[endedDoc](raw, collection)
		return d, nil, err
	case registryRecords:
		d, err := decode[marks](raw, collection)
		return d, nil, err
	}
	d, err := decode[claim](raw, collection)
	if err != nil || d.Essence == nil {
		return d, nil, err
	}
	return claim{Key: d.Key, Format: d.Format, Idle: d.Idle, Essence: essenceOf(d.Pruned)}, d.Pruned, nil
}

// The documents of testdata/format1.json, with a distinct value in every field, are read
// as they were written and written byte for byte in the same way. Each format has such a
// file, and the files of all of them are read. The file of this format is written only if
// it is asked for, and if what the present one has is kept.
func TestStoredFormat(t *testing.T) {
	file := filepath.Join("testdata", fmt.Sprintf("format%d.json", format))
	docs, contents := stored()
	files, err := filepath.Glob("testdata/format*.json")
	if err != nil {
		t.Fatal(err)
	}
	var changed []string // collections whose documents in file are not those of now
	why := "A field or a collection is new, which older programs can ignore"
	if !slices.Contains(files, file) {
		changed = slices.Sorted(maps.Keys(docs))
		why = "Keep the files of the versions before, read those that were released, and change docs/compatibility.md"
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var text map[string]json.RawMessage
		if err := json.Unmarshal(b, &text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, collection := range slices.Sorted(maps.Keys(docs)) {
			if name == file && text[collection] == nil {
				changed = append(changed, collection)
				continue
			}
			var d bson.D
			if err := bson.UnmarshalExtJSON(text[collection], true, &d); err != nil {
				t.Errorf("%s has no document %s: %v", name, collection, err)
				continue
			}
			raw, err := bson.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			got, content, err := readAs(collection, raw)
			if err != nil {
				t.Errorf("%s, %s: %v", name, collection, err)
				continue
			}
			if name != file {
				continue // of an earlier version
			}
			want, err := bson.Marshal(docs[collection])
			if err != nil {
				t.Fatal(err)
			}
			again, err := bson.Marshal(got)
			if field := lost(raw, again); err != nil || field != "" {
				t.Errorf("%s, %s: %s is not written as it was read, which takes a new format:\n%v, %v\nwant\n%v", name, collection, field, bson.Raw(again), err, bson.Raw(raw))
				continue
			}
			if !bytes.Equal(want, raw) {
				changed = append(changed, collection)
				t.Logf("%s, %s: a document with all fields is\n%v\nand the file has\n%v", name, collection, bson.Raw(want), bson.Raw(raw))
				continue
			}
			if !bytes.Equal(again, raw) {
				t.Errorf("%s, %s is written as\n%v\nwant\n%v", name, collection, bson.Raw(again), bson.Raw(raw))
			}
			if !reflect.DeepEqual(content, contents[collection]) && contents[collection] != nil {
				t.Errorf("%s, %s is read as\n%+v\nwant\n%+v", name, collection, content, contents[collection])
			}
		}
	}
	switch {
	case t.Failed() || changed == nil:
	case *writeFixture:
		t.Logf("%s: written with other documents %q", file, changed)
		saveFixture(t, file, docs)
	default:
		t.Errorf("%s would have other documents %q. %s: write it with \"go test ./registry -run TestStoredFormat -write-fixture\", and look at git diff.", file, changed, why)
	}
}

// lost returns a field of the first document that the second does not have with the same
// value, or "".
func lost(before, after bson.Raw) string {
	fields, _ := before.Elements()
	for _, f := range fields {
		old := f.Value()
		v, err := after.LookupErr(f.Key())
		switch {
		case err != nil || v.Type != old.Type:
			return f.Key()
		case v.Type == bson.TypeEmbeddedDocument, v.Type == bson.TypeArray:
			if inner := lost(old.Value, v.Value); inner != "" {
				return f.Key() + "." + inner
			}
		case !bytes.Equal(v.Value, old.Value):
			return f.Key()
		}
	}
	return ""
}

// saveFixture writes the fixture of the stored format.
func saveFixture(t *testing.T, file string, docs map[string]any) {
	t.Helper()
	text := map[string]json.RawMessage{}
	for name, doc := range docs {
		var err error
		if text[name], err = bson.MarshalExtJSON(doc, true, false); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.MarshalIndent(text, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What the load of a record lacks is not measured.
func TestLoadWithoutANumber(t *testing.T) {
	docs, _ := stored()
	raw, err := bson.Marshal(docs[processRecords])
	if err != nil {
		t.Fatal(err)
	}
	full, err := decode[record](raw, processRecords)
	if err != nil || full.Last.Load != docs[processRecords].(record).Last.Load {
		t.Fatalf("%+v, %v", full.Last, err)
	}
	load := reflect.TypeFor[Load]()
	for i := range load.NumField() {
		var d bson.M
		if err := bson.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		last := d["last"].(bson.D)
		for k, e := range last {
			if e.Key == "load" {
				var kept bson.D
				for _, n := range e.Value.(bson.D) {
					if n.Key != load.Field(i).Tag.Get("bson") {
						kept = append(kept, n)
					}
				}
				last[k].Value = kept
				if len(kept) != load.NumField()-1 {
					t.Fatalf("the load is %v", e.Value)
				}
			}
		}
		without, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode[record](without, processRecords)
		want := full.Last.Load
		reflect.ValueOf(&want).Elem().Field(i).SetInt(Unmeasured)
		if err != nil || got.Last.Load != want {
			t.Errorf("without %s: %+v, %v, want %+v", load.Field(i).Name, got.Last.Load, err, want)
		}
	}
}

// Samples that were stored with fewer numbers have the others not measured, and numbers
// that this package does not know are left out.
func TestSamplesOfOtherNumbers(t *testing.T) {
	at := time.UnixMilli(1795285085650).UTC()
	for n := range loadFields {
		few := noLoad
		*loadFields[n].Of(&few) = int64(n) // 0 is a value, too
		got, err := decodeSamples(appendSamples(nil, []Sample{{at, few}, {at.Add(time.Second), few}}))
		if err != nil || len(got) != 2 || got[0].Load != few || got[1].Load != few {
			t.Errorf("only %s: %+v, %v", loadFields[n].Name, got, err)
		}
	}
	// One sample at 1 ms with number 0 of 3 steps and a number of a later version of 7.
	got, err := decodeSamples([]byte{1, 1, 0x82, 0x80, 0x80, 0x80, 0x10, 6, 14})
	want := noLoad
	want.CPU = 30 * time.Millisecond
	if err != nil || len(got) != 1 || got[0].Load != want {
		t.Errorf("with a number of a later version: %+v, %v", got, err)
	}
}
