package inspect

import (
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/segmentio/ksuid"

	"github.com/oidkit/oid/internal/era"
)

// plausibleTime is the reason to believe an id of a form that no other format has.
const plausibleTime = "the form matches and the time is plausible"

func readULID(s string, o Options) (Report, bool) {
	id, err := ulid.ParseStrict(s)
	if err != nil {
		return Report{}, false
	}
	return Report{ID: id.String(), Readings: []Reading{ulidReading(id, o)}}, true
}

func ulidReading(id ulid.ULID, o Options) Reading {
	r := Reading{Format: ULID, Fields: cut(id[:], part{"milliseconds", 48, true}, part{"random", 80, false})}
	r.judge(id.Timestamp(), era.ULID, o, Likely, plausibleTime)
	return r
}

func readKSUID(s string, o Options) (Report, bool) {
	id, err := ksuid.Parse(s)
	if err != nil || id.String() != s { // the library reads other characters as if they were digits
		return Report{}, false
	}
	r := Reading{Format: KSUID, Fields: cut(id.Bytes(), part{"seconds", 32, true}, part{"random", 128, false})}
	r.judge(id.Time(), era.KSUID, o, Likely, plausibleTime)
	return Report{ID: id.String(), Readings: []Reading{r}}, true
}

// xidText is the text form of an xid, see github.com/rs/xid. That package is not used:
// at the start of each program it reads the machine's id and other files.
var xidText = sync.OnceValue(func() *base32.Encoding {
	return base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)
})

func readXID(s string, o Options) (Report, bool) {
	id, err := xidText().DecodeString(s)
	if err != nil || len(id) != 12 || xidText().EncodeToString(id) != s { // the last digit has one bit
		return Report{}, false
	}
	r := Reading{Format: XID, Fields: cut(id, part{"seconds", 32, true}, part{"machine", 24, false}, part{"pid", 16, true}, part{"counter", 24, true})}
	r.judge(time.Unix(int64(binary.BigEndian.Uint32(id)), 0), era.XID, o, Likely, plausibleTime)
	return Report{ID: s, Readings: []Reading{r}}, true
}

// services are the services and libraries whose Snowflakes are known, each with its
// published epoch in Unix milliseconds.
var services = []struct {
	name  string
	epoch int64
	parts []part
}{
	{"twitter", 1288834974657, []part{{"sign", 1, false}, {"milliseconds", 41, true}, {"machine", 10, true}, {"sequence", 12, true}}},
	{"discord", 1420070400000, []part{{"milliseconds", 42, true}, {"worker", 5, true}, {"process", 5, true}, {"increment", 12, true}}},
	{"instagram", 1314220021721, []part{{"milliseconds", 41, true}, {"shard", 13, true}, {"sequence", 10, true}}},
	{"mastodon", 0, []part{{"milliseconds", 48, true}, {"sequence", 16, true}}},
	{"sonyflake", 1409529600000, []part{{"sign", 1, false}, {"centiseconds", 39, true}, {"sequence", 8, true}, {"machine", 16, true}}},
}

// timeUnits are the units of the fields that hold a time, in milliseconds, by field name.
var timeUnits = map[string]int64{"milliseconds": 1, "centiseconds": 10}

// readSnowflake reads decimal numbers of 15 to 19 digits. A shorter number would be from the
// first days of every service, so it is hardly a Snowflake.
func readSnowflake(s string, o Options) (Report, bool) {
	if len(s) < 15 || s[0] < '1' || s[0] > '9' {
		return Report{}, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return Report{}, false
	}
	report := Report{ID: s}
	id := binary.BigEndian.AppendUint64(nil, uint64(n))
	var plausible []int
	for _, service := range services {
		r := Reading{Format: Snowflake, Variant: service.name, Fields: cut(id, service.parts...)}
		for _, f := range r.Fields {
			unit := timeUnits[f.Name]
			if unit == 0 {
				continue
			}
			created, first := time.UnixMilli(service.epoch+unit*int64(*f.Number)), time.UnixMilli(service.epoch)
			if service.name == "mastodon" { // which counts from 1970
				first = era.Mastodon
			}
			r.judge(created, first, o, Possible, "the time is plausible for this service, but other services use the same form")
		}
		report.Readings = append(report.Readings, r)
		if r.Verdict == Possible {
			plausible = append(plausible, len(report.Readings)-1)
		}
	}
	if len(plausible) == 1 {
		r := &report.Readings[plausible[0]]
		r.Verdict, r.Reason = Likely, "the only service for which the time is plausible"
	}
	return report, true
}
