package census_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
)

// endless is a text that goes on as fill says, up to size bytes.
type endless struct {
	size int
	fill func(p []byte) int
	rest []byte
	buf  [1 << 16]byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.size <= 0 {
			return 0, io.EOF
		}
		n := e.fill(e.buf[:])
		e.size -= n
		e.rest = e.buf[:n]
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestMemory holds the census to 24 bytes for each id and 16 MiB beside, for few
// writers and for as many as there are ids.
func TestMemory(t *testing.T) {
	testenv.WithoutRace(t)
	const n = 2_000_000
	random := rand.New(rand.NewPCG(1, 2))
	for name, writers := range map[string]uint64{"3 writers": 3, "1500 writers": 1500, "as many as ids": 1 << 40} {
		i := uint32(0)
		docs := &endless{size: n * 22, fill: func(p []byte) int {
			k := 0
			for ; k+22 <= len(p) && k < 22*1000; k += 22 {
				d := p[k : k+22]
				copy(d, "\x16\x00\x00\x00\x07_id\x00")
				binary.BigEndian.PutUint64(d[13:], random.Uint64N(writers)<<24)
				binary.BigEndian.PutUint32(d[9:], 1_600_000_000+i/100)
				binary.BigEndian.PutUint16(d[19:], uint16(i))
				d[18], d[21] = byte(i>>16), 0
				i++
			}
			return k
		}}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := census.New(nil)
		if err := c.Read(t.Context(), "documents", docs); err != nil {
			t.Fatal(err)
		}
		r, err := c.Report(nil)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		const beside = 16 << 20
		each := (float64(after.HeapAlloc) - float64(before.HeapAlloc) - beside) / float64(r.IDs)
		if r.IDs != n || each > 24 {
			t.Errorf("%s: %d ids, %.1f bytes each", name, r.IDs, each)
		}
		runtime.KeepAlive(c)
	}
}

func TestWideTimeline(t *testing.T) {
	testenv.Long(t, "counts a million ids")
	t.Parallel()
	c := census.New(nil)
	if err := c.Read(t.Context(), "list", strings.NewReader("507f1f77bcf86cd799439011\n6592008029c8c3e4dc762501\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Report(&census.ReportOptions{By: census.IntervalMinute}); err == nil || !strings.Contains(fmt.Sprint(err), "1048576 buckets") {
		t.Errorf("11 years by minute: %v", err)
	}
	if r, err := c.Report(&census.ReportOptions{By: census.IntervalHour}); err != nil || len(r.Timeline.Buckets) < 90_000 {
		t.Errorf("11 years by hour: %v", err)
	}
}
