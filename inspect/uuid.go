package inspect

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/oidkit/oid/internal/era"
)

// uuidParts are the fields of a UUID of each version (RFC 9562).
var uuidParts = map[uuid.Version][]part{
	1: {{"time_low", 32, false}, {"time_mid", 16, false}, {"version", 4, true}, {"time_high", 12, false}, {"variant", 2, true}, {"clock_sequence", 14, true}, {"node", 48, false}},
	2: {{"local_id", 32, true}, {"time_mid", 16, false}, {"version", 4, true}, {"time_high", 12, false}, {"variant", 2, true}, {"clock_sequence", 6, true}, {"local_domain", 8, true}, {"node", 48, false}},
	3: {{"md5_high", 48, false}, {"version", 4, true}, {"md5_mid", 12, false}, {"variant", 2, true}, {"md5_low", 62, false}},
	4: {{"random_a", 48, false}, {"version", 4, true}, {"random_b", 12, false}, {"variant", 2, true}, {"random_c", 62, false}},
	5: {{"sha1_high", 48, false}, {"version", 4, true}, {"sha1_mid", 12, false}, {"variant", 2, true}, {"sha1_low", 62, false}},
	6: {{"time_high", 32, false}, {"time_mid", 16, false}, {"version", 4, true}, {"time_low", 12, false}, {"variant", 2, true}, {"clock_sequence", 14, true}, {"node", 48, false}},
	7: {{"milliseconds", 48, true}, {"version", 4, true}, {"random_a", 12, false}, {"variant", 2, true}, {"random_b", 62, false}},
	8: {{"custom_a", 48, false}, {"version", 4, true}, {"custom_b", 12, false}, {"variant", 2, true}, {"custom_c", 62, false}},
}

// timeless says why a UUID of these versions has no time.
var timeless = map[uuid.Version]string{
	3: "the MD5 of a name: no time in it",
	4: "random: no time in it",
	5: "the SHA-1 of a name: no time in it",
	8: "the application chose the layout: no time can be read",
}

func readUUID(s string, o Options) (Report, bool) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 32 && len(s) != 36 { // the library reads more forms, some of them unchecked
		return Report{}, false
	}
	r := Reading{Format: UUID, Verdict: Likely}
	parts, known := uuidParts[id.Version()]
	switch {
	case id == uuid.Nil:
		r.Variant, r.Verdict, r.Reason = "nil", Bound, "all zeros: not an id"
	case id == uuid.Max:
		r.Variant, r.Verdict, r.Reason = "max", Bound, "all ones: not an id"
	case id.Variant() != uuid.RFC4122 || !known:
		r.Verdict, r.Reason = Unlikely, "variant or version is not of RFC 9562: a hash, or other 16 bytes"
	default:
		r.Variant = fmt.Sprintf("v%d", id.Version())
		r.Fields = cut(id[:], parts...)
		r.Reason = timeless[id.Version()]
		if r.Reason == "" {
			reason := "version and variant of RFC 9562, and the time is plausible"
			if id.Version() == 2 {
				reason += "; version 2 records the time in steps, so the UUID may have been created up to 7m9.5s later"
			}
			r.judge(uuidTime(id), era.UUID, o, Likely, reason)
		}
	}
	if r.Fields == nil {
		r.Fields = cut(id[:], part{"value", 128, false})
	}
	report := Report{ID: id.String(), Readings: []Reading{r}}
	if r.Verdict == Unlikely {
		if other := ulidReading(ulid.ULID(id), o); other.Verdict == Likely {
			other.Verdict, other.Reason = Possible, "a ULID written as a UUID: the time is plausible"
			report.Readings = append(report.Readings, other)
		}
	}
	return report, true
}

// uuidTime returns the time in a UUID of version 1, 2, 6 or 7. Version 2 has only the upper
// part of the time, so the result is the earliest time that the UUID can have.
func uuidTime(id uuid.UUID) time.Time {
	ticks := id.Time()
	switch id.Version() {
	case 2:
		copy(id[:4], []byte{0, 0, 0, 0})
		ticks = id.Time()
	case 6: // the library wrongly reads the bits of the version as a part of the time
		upper := binary.BigEndian.Uint64(id[:8])
		ticks = uuid.Time(upper>>16<<12 | upper&0x0FFF)
	}
	sec, nsec := ticks.UnixTime()
	return time.Unix(sec, nsec)
}
