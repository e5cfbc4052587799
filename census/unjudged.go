package census

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
)

// Unjudged says why a census judged nothing: documents were read, but the field has no id in
// any of them. It also says in which other fields ids are.
type Unjudged struct {
	Field string // [Report].Field
	Unit  string // what Read and Looked count: "document", "line" or "row"
	// Read is the number of documents, lines or rows that were read. Looked is how many of the
	// first ones were searched for ids in other fields.
	Read   int64
	Looked int64
	// Elsewhere are fields that have ids in the documents that were searched, at most five:
	// those with the most ids.
	Elsewhere []Elsewhere
	// First describes the first document that was searched: its members and their types, or the
	// columns of CSV.
	First string
}

// Elsewhere is a field, or a column of CSV, that has ids.
type Elsewhere struct {
	// Field is the path of the field, which Options.Field accepts, or the name of the column,
	// which Options.Column accepts.
	Field string
	// IDs is the number of ObjectIds, or of strings of 24 hexadecimal digits, in the documents
	// that were searched.
	IDs int64
	// InText is true if the field is in a string that contains JSON.
	InText bool
	// IsColumn is true for CSV.
	IsColumn bool
	// InOtherText is true if the ids are among other words in the field. FormatGrep reads them.
	InOtherText bool
}

// maxElsewhere is how many fields an Unjudged lists.
const maxElsewhere = 5

// unjudged returns why no id of the sources was judged, or nil if one was, or if nothing was
// read.
func (c *Census) unjudged(sources []*Source) *Unjudged {
	u := &Unjudged{Field: c.options.Field}
	found := map[Elsewhere]int64{}
	for _, s := range sources {
		for _, l := range s.collection.found {
			if l.taken+l.outside > 0 {
				return nil
			}
		}
		u.Unit, u.Read = cmp.Or(u.Unit, s.Unit), u.Read+s.Units
		if s.Format == FormatTable {
			continue // its other columns are not read
		}
		u.Looked, u.First = u.Looked+s.looked, cmp.Or(u.First, s.first)
		for path, f := range s.places {
			field, isOther := strings.CutSuffix(path, source.InOtherText)
			if !isOther || s.Format == FormatJSON || s.Format == FormatCSV { // --grep does not read BSON
				found[Elsewhere{field, 0, f.InText, s.Format == FormatCSV, isOther}] += f.Values
			}
		}
	}
	if u.Read == 0 {
		return nil
	}
	for e, n := range found {
		e.IDs = n
		u.Elsewhere = append(u.Elsewhere, e)
	}
	slices.SortFunc(u.Elsewhere, func(a, b Elsewhere) int {
		switch {
		case a.InOtherText && !b.InOtherText:
			return 1
		case b.InOtherText && !a.InOtherText:
			return -1
		}
		return cmp.Or(cmp.Compare(b.IDs, a.IDs), cmp.Compare(len(a.Field), len(b.Field)), cmp.Compare(a.Field, b.Field))
	})
	u.Elsewhere = u.Elsewhere[:min(len(u.Elsewhere), maxElsewhere)]
	return u
}

// String returns u as a clause.
func (u *Unjudged) String() string {
	looked := "the first " + phrase.Count(u.Looked, u.Unit, u.Unit+"s")
	if u.Looked == 1 {
		looked = "the first " + u.Unit
	}
	switch {
	case u.Looked == 0:
		return "no id in " + phrase.Count(u.Read, u.Unit, u.Unit+"s")
	case len(u.Elsewhere) > 0:
		return "ids are in other fields; in " + looked + ", " + strings.Join(each.Of(u.Elsewhere, Elsewhere.String), "; ")
	case u.First != "":
		return "no ObjectId in any field of " + looked + "; the first one has " + u.First
	}
	return "no ObjectId in any field of " + looked
}

// String returns a clause such as "`after._id` (JSON within text) has 6: write --field after._id".
func (e Elsewhere) String() string {
	kind, flag := "", "--field "+phrase.Argument(e.Field)
	switch {
	case e.InOtherText:
		kind, flag = " (among other text)", "--grep"
	case e.InText:
		kind = " (JSON within text)"
	}
	if e.IsColumn {
		flag = strings.Replace(flag, "--field", "--column", 1)
	}
	return fmt.Sprintf("`%s`%s has %s: write %s", e.Field, kind, phrase.Count(e.IDs, "id", "ids"), flag)
}
