package lock

import (
	"errors"
	"testing"
	"time"
)

// The ticks after a time, also where clocks change: a job at a fixed time is due once on
// such a day, and one that is due all the time goes on in real time.
func TestScheduleNext(t *testing.T) {
	for _, test := range []struct {
		schedule, from string
		want           []string
	}{
		{"10m", "2026-11-24T04:10:00Z", []string{"2026-11-24T04:20:00Z", "2026-11-24T04:30:00Z"}},
		{"24h", "2026-11-24T04:10:00+09:00", []string{"2026-11-24T00:00:00Z"}},
		{"300ms", "2026-11-24T04:10:00.1Z", []string{"2026-11-24T04:10:00.3Z", "2026-11-24T04:10:00.6Z"}},
		{"*/20 3 * * *", "2026-11-24T03:20:00Z", []string{"2026-11-24T03:40:00Z", "2026-11-25T03:00:00Z"}},
		{"@daily", "2026-11-24T03:20:00Z", []string{"2026-11-25T00:00:00Z"}},
		{"@hourly", "2026-11-24T03:20:00Z", []string{"2026-11-24T04:00:00Z"}},
		{"0 0 29 2 *", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		// Both days are restricted: due on both, but not if one begins with *.
		{"0 0 13 * 5", "2026-11-01T01:00:00Z", []string{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"}},
		{"0 0 */2 * 5", "2026-11-01T01:00:00Z", []string{"2026-11-13T00:00:00Z", "2026-11-27T00:00:00Z"}},
		{"0 0 * * 7", "2026-11-24T00:00:00Z", []string{"2026-11-29T00:00:00Z"}},
		// Berlin leaves out 02:00 to 03:00 on 2026-03-29 and repeats it on 2026-10-25.
		{"CRON_TZ=Europe/Berlin 30 2 * * *", "2026-03-28T00:00:00Z", []string{"2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"}},
		{"TZ=Europe/Berlin 30 2 * * *", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"TZ=Europe/Berlin 30 2,3 * * *", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"}},
		{"TZ=Europe/Berlin */30 * * * *", "2026-10-25T00:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z"}},
		{"TZ=Europe/Berlin */30 2 * * *", "2026-10-25T00:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:00:00Z"}},
		{"TZ=Europe/Berlin 15 * * * *", "2026-10-25T00:00:00Z", []string{"2026-10-25T00:15:00Z", "2026-10-25T01:15:00Z", "2026-10-25T02:15:00Z"}},
		{"TZ=Europe/Berlin 0 * * * *", "2026-03-29T00:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}},
		{"TZ=Europe/Berlin @hourly", "2026-10-25T00:00:00Z", []string{"2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"}},
		// São Paulo left out midnight, Lord Howe leaves out half an hour.
		{"TZ=America/Sao_Paulo 0 0 * * *", "2018-11-03T12:00:00Z", []string{"2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"}},
		{"TZ=Australia/Lord_Howe 15 2 * * *", "2026-10-02T20:00:00Z", []string{"2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"}},
	} {
		s, err := ParseSchedule(test.schedule)
		if err != nil {
			t.Error(err)
			continue
		}
		at, err := time.Parse(time.RFC3339, test.from)
		if err != nil {
			t.Fatal(err)
		}
		first := s.before(at)
		if first.After(at) || !s.Next(first).After(at) {
			t.Errorf("%s: %v is not the last tick before %v", test.schedule, first, at)
		}
		for _, want := range test.want {
			before := at
			if at = s.Next(at); at.Format(time.RFC3339Nano) != want {
				t.Errorf("%s: after %v comes %v, want %v", test.schedule, before, at.Format(time.RFC3339Nano), want)
				break
			}
			if got := s.before(at); !got.Equal(at) {
				t.Errorf("%s: the last tick at %v is %v", test.schedule, at, got)
			}
		}
	}
}

// A call belongs to the nearest tick, at most an hour early, and to none near the border.
func TestScheduleAt(t *testing.T) {
	for _, test := range []struct{ schedule, at, want string }{
		{"1h", "2026-11-24T04:00:00Z", "2026-11-24T04:00:00Z"},
		{"1h", "2026-11-24T04:24:59Z", "2026-11-24T04:00:00Z"},
		{"1h", "2026-11-24T04:25:01Z", ""},
		{"1h", "2026-11-24T04:30:00Z", ""},
		{"1h", "2026-11-24T04:34:59Z", ""},
		{"1h", "2026-11-24T04:35:00Z", "2026-11-24T05:00:00Z"},
		{"12m", "2026-11-24T04:04:59Z", "2026-11-24T04:00:00Z"},
		{"12m", "2026-11-24T04:05:01Z", ""},
		{"12m", "2026-11-24T04:07:00Z", "2026-11-24T04:12:00Z"},
		{"0 3 * * *", "2026-11-24T01:50:00Z", "2026-11-23T03:00:00Z"},
		{"0 3 * * *", "2026-11-24T01:50:01Z", ""},
		{"0 3 * * *", "2026-11-24T01:59:59Z", ""},
		{"0 3 * * *", "2026-11-24T02:00:00Z", "2026-11-24T03:00:00Z"},
		{"0 3 * * *", "2026-11-24T20:00:00Z", "2026-11-24T03:00:00Z"},
		{"key=2026-11-24", "2026-11-24T20:00:00Z", "2026-11-24"},
	} {
		s, err := ParseSchedule(test.schedule)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, test.at)
		if err != nil {
			t.Fatal(err)
		}
		switch tick, err := s.at(at); {
		case test.want == "" && !errors.Is(err, ErrBetween):
			t.Errorf("%s at %s: %v, %v; want ErrBetween", test.schedule, test.at, tick, err)
		case test.want != "" && (err != nil || tick.String() != test.want):
			t.Errorf("%s at %s: %v, %v; want %s", test.schedule, test.at, tick, err, test.want)
		}
	}
}

func TestParseScheduleRefuses(t *testing.T) {
	for _, text := range []string{
		"", "10", "0s", "-10m", "1us", "9000h", "key=", "key=a\nb", "key=\xff", "* * * *", "* * * * * *", "61 * * * *",
		"@every 5m", "@reboot", "30 2 31 2 *", "TZ=Nowhere/City * * * * *", "TZ= * * * * *", "CRON_TZ=UTC", "TZ=UTC TZ=UTC * * * * *",
	} {
		if s, err := ParseSchedule(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseSchedule(%q) = %v, %v; want ErrInvalid", text, s, err)
		}
	}
	for _, text := range []string{"10m", "key=x", "TZ=Asia/Kolkata 30 2 * * *"} {
		if s, err := ParseSchedule(text); err != nil || s.String() != text && s.String() != "10m0s" {
			t.Errorf("ParseSchedule(%q) = %v, %v", text, s, err)
		}
	}
}

// A record in Redis lives for several ticks.
func TestScheduleLife(t *testing.T) {
	now := time.Date(2026, 11, 24, 4, 10, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"1m": minLife, "168h": 32 * 168 * time.Hour, "key=2026": keyLife,
	} {
		s, err := ParseSchedule(text)
		if got := s.life(now); err != nil || got < want-168*time.Hour || got > want {
			t.Errorf("%s: %v, %v; want about %v", text, got, err, want)
		}
	}
}
