package lockfaults

import (
	"strings"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// PostgresFaults returns all faults of PostgreSQL and its clients, like [Faults]. The server
// never loses what it has acknowledged.
func PostgresFaults() []Fault {
	return []Fault{
		{Name: "ordinary: second in the queue, work of 2.5 TTL", Ordinary: true, run: func(l *lab) {
			l.longWork(testenv.PostgresSchema(l.t, testenv.SharedPostgres(l.t).URL()))
		}},
		{Name: "kill -9 of PostgreSQL, start", OneHolder: true, run: onPostgres(func(s *testenv.PostgresServer) {
			s.Kill()
			time.Sleep(TTL / 5)
			s.Start()
		})},
		{Name: "PostgreSQL stopped (SIGSTOP) for 2 TTL", OneHolder: true, run: onPostgres(func(s *testenv.PostgresServer) {
			s.Signal(stopSignal)
			time.Sleep(2 * TTL)
			s.Signal(continueSignal)
		})},
		{Name: "holder stopped (SIGSTOP) for 2 TTL", OneHolder: true, run: besidePostgres(func(l *lab, _ *testenv.Cable) {
			l.freeze(l.workers[0], func() {})
		})},
		{Name: "holder killed (kill -9), waiters on its host", OneHolder: true, run: besidePostgres(func(l *lab, _ *testenv.Cable) { l.kill(l.workers[0]) })},
		{Name: "holder cut off, both directions", OneHolder: true, run: cutOff(true, true)},
		{Name: "holder cut off, its requests only", OneHolder: true, run: cutOff(true, false)},
		{Name: "holder cut off, the answers only", OneHolder: true, run: cutOff(false, true)},
	}
}

// cutOff returns a fault that cuts the holder off from PostgreSQL for a while.
func cutOff(requests, answers bool) func(*lab) {
	return besidePostgres(func(_ *lab, c *testenv.Cable) {
		c.Cut(requests, answers)
		time.Sleep(5 * TTL / 2)
		c.Cut(false, false)
	})
}

// onPostgres returns a fault of a PostgreSQL server.
func onPostgres(harm func(*testenv.PostgresServer)) func(*lab) {
	return func(l *lab) {
		s := testenv.Postgres(l.t)
		l.contend(s.URL(), s.URL(), func() {
			from := time.Now()
			harm(s)
			l.outage = time.Since(from)
		})
	}
}

// besidePostgres returns a fault of the clients of a PostgreSQL server. The holder is
// connected through the cable.
func besidePostgres(harm func(*lab, *testenv.Cable)) func(*lab) {
	return func(l *lab) {
		s := testenv.SharedPostgres(l.t)
		url, c := testenv.PostgresSchema(l.t, s.URL()), testenv.NewCable(l.t, s.Addr)
		l.contend(strings.Replace(url, s.Addr, c.Addr, 1), url, func() { harm(l, c) })
	}
}
