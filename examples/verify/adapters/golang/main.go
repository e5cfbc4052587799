// Command golang lets examples/verify judge the ids of a library for Go: golang LIBRARY.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	mgo "github.com/globalsign/mgo/bson"
	"github.com/rs/xid"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// library creates an id, and reads one from text and from JSON.
type library struct {
	create   func() string
	parse    func(s string) (hex string, t time.Time, err error)
	fromJSON func(b []byte) (hex string, err error)
}

var own, _ = objectid.NewGenerator(&objectid.Options{Now: now}) // these Options are valid

var libraries = map[string]library{
	"oid": {
		func() string { return own.New().String() },
		func(s string) (string, time.Time, error) {
			id, err := objectid.Parse(s)
			return id.String(), id.Time(), err
		},
		func(b []byte) (string, error) {
			var id objectid.ID
			err := json.Unmarshal(b, &id)
			return id.String(), err
		},
	},
	"mongo-driver": {
		func() string { return bson.NewObjectID().Hex() },
		func(s string) (string, time.Time, error) {
			id, err := bson.ObjectIDFromHex(s)
			return id.Hex(), id.Timestamp(), err
		},
		func(b []byte) (string, error) {
			var id bson.ObjectID
			err := json.Unmarshal(b, &id)
			return id.Hex(), err
		},
	},
	"mongo-driver-v1": {
		func() string { return primitive.NewObjectID().Hex() },
		func(s string) (string, time.Time, error) {
			id, err := primitive.ObjectIDFromHex(s)
			return id.Hex(), id.Timestamp(), err
		},
		func(b []byte) (string, error) {
			var id primitive.ObjectID
			err := json.Unmarshal(b, &id)
			return id.Hex(), err
		},
	},
	"mgo": {
		func() string { return mgo.NewObjectId().Hex() },
		func(s string) (string, time.Time, error) {
			if !mgo.IsObjectIdHex(s) { // ObjectIdHex panics
				return "", time.Time{}, fmt.Errorf("no id")
			}
			id := mgo.ObjectIdHex(s)
			return id.Hex(), id.Time(), nil
		},
		func(b []byte) (string, error) {
			var id mgo.ObjectId
			if err := json.Unmarshal(b, &id); err != nil || id != "" {
				return id.Hex(), err
			}
			return objectid.ID{}.String(), nil // its zero id is an empty string
		},
	},
	"xid": {func() string { return objectid.ID(xid.New()).String() }, nil, nil}, // its texts are others
}

// asked and shown are how often now was called, and what it has read.
var (
	asked int
	shown time.Time
)

// now reads the clock that verify --clock sets, once in 100 calls, or that of the
// system.
func now() time.Time {
	if asked++; asked%100 != 1 && !shown.IsZero() {
		return shown
	}
	text, err := os.ReadFile(os.Getenv("OID_VERIFY_CLOCK"))
	if err != nil {
		return time.Now()
	}
	seconds, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	shown = time.Unix(seconds, 0)
	return shown
}

func main() {
	l, test := libraries[os.Args[1]], os.Getenv("OID_VERIFY")
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	n, _ := strconv.Atoi(os.Getenv("OID_VERIFY_IDS"))
	if test == "ids" || test == "resume" {
		for range n {
			out.WriteString(l.create() + "\n")
		}
	}
	switch test {
	case "ids":
		return
	case "resume":
		out.Flush()
		bufio.NewReader(os.Stdin).ReadString('\n')
		for range n {
			out.WriteString(l.create() + "\n")
		}
		return
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer := "refused"
		if test == "decode" {
			if hex, t, err := l.parse(lines.Text()); err == nil {
				answer = fmt.Sprint(hex, " ", t.Unix())
			}
		} else if hex, err := l.fromJSON(lines.Bytes()); err == nil {
			answer = hex
		}
		fmt.Fprintln(out, answer)
	}
}
