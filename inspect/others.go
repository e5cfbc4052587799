package inspect

import (
	"strings"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
)

// The years in which these formats came up.
var (
	firstULID  = date(2016, time.January)
	firstKSUID = date(2014, time.May) // its own epoch
	firstXID   = date(2015, time.January)
)

const timeInOrder = "the form fits and the time is in order"

func readULID(s string, o Options) (Report, bool) {
	id, err := ulid.ParseStrict(s)
	if err != nil {
		return Report{}, false
	}
	return Report{ID: id.String(), Readings: []Reading{ulidReading(id, o)}}, true
}

func ulidReading(id ulid.ULID, o Options) Reading {
	r := Reading{Format: "ulid", Fields: cut(id[:], part{"milliseconds", 48, true}, part{"random", 80, false})}
	r.judge(id.Timestamp(), firstULID, o, Likely, timeInOrder)
	return r
}

func readKSUID(s string, o Options) (Report, bool) {
	id, err := ksuid.Parse(s)
	if err != nil || len(s) != 27 {
		return Report{}, false
	}
	r := Reading{Format: "ksuid", Fields: cut(id.Bytes(), part{"seconds", 32, true}, part{"random", 128, false})}
	r.judge(id.Time(), firstKSUID, o, Likely, timeInOrder)
	return Report{ID: id.String(), Readings: []Reading{r}}, true
}

func readXID(s string, o Options) (Report, bool) {
	id, err := xid.FromString(s)
	if err != nil {
		return Report{}, false
	}
	r := Reading{Format: "xid", Fields: cut(id.Bytes(), part{"seconds", 32, true}, part{"machine", 24, false}, part{"pid", 16, true}, part{"counter", 24, true})}
	r.judge(id.Time(), firstXID, o, Likely, timeInOrder)
	return Report{ID: id.String(), Readings: []Reading{r}}, true
}

// services are those whose Snowflakes are known here, with the Unix milliseconds
// from which each counts, as published by each.
var services = []struct {
	name  string
	epoch int64
	parts []part
}{
	{"twitter", 1288834974657, []part{{"sign", 1, false}, {"milliseconds", 41, true}, {"machine", 10, true}, {"sequence", 12, true}}},
	{"discord", 1420070400000, []part{{"milliseconds", 42, true}, {"worker", 5, true}, {"process", 5, true}, {"increment", 12, true}}},
	{"instagram", 1314220021721, []part{{"milliseconds", 41, true}, {"shard", 13, true}, {"sequence", 10, true}}},
}

// readSnowflake takes decimal numbers of 15 to 19 digits: with fewer, all three
// services' times lie within the first days of their epochs.
func readSnowflake(s string, o Options) (Report, bool) {
	if len(s) < 15 || len(s) > 19 || strings.Trim(s, "0123456789") != "" || s[0] == '0' {
		return Report{}, false
	}
	id, err := snowflake.ParseString(s)
	if err != nil {
		return Report{}, false
	}
	report := Report{ID: id.String()}
	bytes := id.IntBytes()
	var inOrder []int
	for _, service := range services {
		r := Reading{Format: "snowflake", Variant: service.name, Fields: cut(bytes[:], service.parts...)}
		for _, f := range r.Fields {
			if f.Name == "milliseconds" {
				born := time.UnixMilli(service.epoch + int64(*f.Number))
				r.judge(born, time.UnixMilli(service.epoch), o, Possible, "the time is in order for this service; others use the same form")
			}
		}
		report.Readings = append(report.Readings, r)
		if r.Verdict == Possible {
			inOrder = append(inOrder, len(report.Readings)-1)
		}
	}
	if len(inOrder) == 1 {
		r := &report.Readings[inOrder[0]]
		r.Verdict, r.Why = Likely, "the only service for which the time is in order"
	}
	return report, true
}
