package judge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Refused is the answer of a program to a text that it does not take for an id.
const Refused = "refused"

// Text is one line that a program is to read, and the id in it, or nil if it is not an
// id. MayRefuse: either is right.
type Text struct {
	Line      string
	ID        *objectid.ID
	MayRefuse bool
}

// sampleIDs are read whatever their time is: 1970, the last second of 31 bits and the next
// one, and the last of all.
var sampleIDs = []string{
	"507f1f77bcf86cd799439011", "6b0025be0fbc7c8cd4ba1c2e", "00000000bcf86cd799439011", "7fffffffbcf86cd799439011",
	"80000000bcf86cd799439011", "ffffffffffffffffffffffff", "000000000000000000000000", "000000010000000000000000",
}

// noIDs are refused.
var noIDs = []string{
	"", "5", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd7994390",
	"507f1f77bcf86cd79943901g", "g07f1f77bcf86cd799439011", "507f1f77bcf8-cd799439011",
	"Rheumatology", "abcdefghijkl", "507f1f77bcf8", "123456789012", "éééééé",
	" 507f1f77bcf86cd799439011", "507f1f77bcf86cd799439011 ", "\t507f1f77bcf86cd799439011", "507f1f77bcf86cd799439011\t",
	"507f1f77bcf86cd7994390  ", "  7f1f77bcf86cd799439011", "507f1f77 bcf86cd7 994390", "507f1f77bcf86cd79943901 ",
	"+07f1f77bcf86cd799439011", "-07f1f77bcf86cd799439011", "0x7f1f77bcf86cd799439011", "0x507f1f77bcf86cd799439011",
	"507f_1f77_bcf86cd7994390", "507f1f77bcf86cd79943901\x00", "507f1f77bcf86cd7994390\\n", "507f1f77bcf86cd79943901.",
	"５０７ｆ１ｆ７７ｂｃｆ８６ｃｄ７９９４３９０１１", "٥٠٧11f77bcf86cd799439011", "éééééééééééé",
	`"507f1f77bcf86cd799439011"`, `ObjectId("507f1f77bcf86cd799439011")`, "{507f1f77bcf86cd79943901}",
	"507f1f77-bcf8-6cd7-9943-901100000000", "01K8Z2Q6M7N8P9QRSTVWXYZ012", "null", "undefined", "UH8fd7z4bNeZQ5AR",
}

// Texts returns the lines that a program is to read.
func Texts() (all []Text) {
	for _, s := range sampleIDs {
		all = append(all, idText(s, s, false), idText(strings.ToUpper(s), s, true))
	}
	for _, s := range noIDs {
		all = append(all, Text{Line: s})
	}
	return all
}

func idText(line, hex string, mayRefuse bool) Text {
	id := objectid.MustParse(hex)
	return Text{line, &id, mayRefuse}
}

// JSONTexts returns JSON values that a program is to read. An empty string and null may
// be read as the zero id, and Extended JSON as its id.
func JSONTexts() (all []Text) {
	for _, t := range Texts() {
		if t.Line == "" || t.ID == nil && strings.ContainsAny(t.Line, "{") {
			continue
		}
		b, err := json.Marshal(t.Line)
		if err != nil {
			panic(err) // strings are JSON
		}
		t.Line = string(b)
		all = append(all, t)
	}
	zero := strings.Repeat("0", 24)
	all = append(all, idText(`null`, zero, true), idText(`""`, zero, true),
		idText(`{"$oid":"507f1f77bcf86cd799439011"}`, "507f1f77bcf86cd799439011", true))
	for _, s := range []string{
		"123456789012", "1234567890123456789012", "1.23456789e11", "true", "[]", "{}", `["507f1f77bcf86cd799439011"]`,
		`{"$oid":"507f1f77bcf86cd79943901g"}`, `{"$oid":"507f1f77bcf8"}`, `{"$oid":123456789012}`, `{"oid":"507f1f77bcf86cd799439011"}`,
	} {
		all = append(all, Text{Line: s})
	}
	return all
}

// Decode judges the answers of a program to texts, which ask returns by the place of the
// text: the digits of an id, with its creation time in Unix seconds behind a blank if the
// program can tell it, or "refused". The error is that of ask, or of an answer of another form.
func Decode(texts []Text, ask func(i int) (answer string, err error)) ([]Result, error) {
	found, hidden := findings{}, map[Promise]string{ReadsTimes: "no answer has the Unix seconds of the id behind it"}
	for i, t := range texts {
		answer, err := ask(i)
		if err == nil {
			err = found.judgeAnswer(t, answer, hidden)
		}
		if err != nil {
			return nil, err
		}
	}
	return found.results([]Promise{ReadsIDs, RefusesText, ReadsTimes}, hidden), nil
}

// judgeAnswer judges the answer to one text. One with a time does not hide that promise.
func (f findings) judgeAnswer(t Text, answer string, hidden map[Promise]string) error {
	hex, seconds, timed := strings.Cut(strings.TrimRight(answer, "\r"), " ")
	id, err := objectid.Parse(hex)
	example := fmt.Sprintf("%q is read as %.60s", t.Line, hex)
	switch got, timeErr := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64); {
	case hex == Refused:
		if t.ID != nil && !t.MayRefuse {
			f.add(ReadsIDs, 1, "ids that other programs create cannot be read", fmt.Sprintf("%q is refused", t.Line))
		}
	case t.ID == nil: // what it is read as may have any length
		f.add(RefusesText, 1, "text that is not an id becomes one without an error", example)
	case err != nil:
		return fmt.Errorf("the answer to %q is %.60q: want 24 digits or %s", t.Line, answer, Refused)
	case id != *t.ID:
		f.add(ReadsIDs, 1, "an id becomes another one", example)
	case timed && timeErr != nil:
		return fmt.Errorf("the answer to %q is %.60q: want the Unix seconds after the id", t.Line, answer)
	case timed:
		delete(hidden, ReadsTimes)
		if want := id.Time().Unix(); got != want {
			cause := fmt.Sprintf("the time is wrong by %+d s", got-want)
			if got == int64(int32(want)) {
				cause = "seconds after 2038-01-19T03:14:07Z are read as negative"
			}
			f.add(ReadsTimes, 1, cause, fmt.Sprintf("%v is of %s, and is read as %d (%s)", id, timeText(want), got, timeText(got)))
		}
	}
	return nil
}
