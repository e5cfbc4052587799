package locktest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock/internal/engine"
)

// mutants are the ways to break the locks in memory, with a check of the suite that must
// notice each. Every check has one at least, and every method of a Keeper one that does
// nothing.
var mutants = []mutant{
	{"AcquireAndRelease", "has a Free that does nothing"},
	{"HeldByAnother", "is reentrant"},
	{"HeldByAnother", "shows an owner of its own"},
	{"AcquireWaits", "grants a lock twice"},
	{"AcquireHonoursCtx", "does not say who holds the lock"},
	{"AcquireHonoursCtx", "takes a lock for a call that has ended"},
	{"GivenUpIsPassedOver", "lets those that gave up stay in the queue"},
	{"ReleaseTwice", "grants a lock twice"},
	{"FencesRise", "grants the same fence again"},
	{"FencesRise", "grants lower fences"},
	{"NamesAreIndependent", "frees all locks"},
	{"BadNames", "takes any name"},
	{"OddNames", "takes two names for one"},
	{"StatusAndList", "lists free locks"},
	{"StatusAndList", "lists in reverse"},
	{"StatusAndList", "shows the last holder of a free lock"},
	{"CloseEndsWaiting", "does not end waiting calls with Close"},
	{"CloseEndsWaiting", "works after Close"},
	{"LeasesAfterClose", "releases leases with Close"},
	{"LeasesAfterClose", "lets a lease live on after its time"},
	{"LeasesAfterClose", "does not compare owners"},
	{"LeaseIsRenewed", "has a Keep that does nothing"},
	{"LeaseIsRenewed", "renews a lease without a new deadline"},
	{"LeaseIsRenewed", "renews a lease beyond its time"},
	{"ManyTakeTurns", "grants a lock to all that wait"},
	{"Do", "grants leases that have ended"},
	{"LeaseOutlivesItsCtx", "ends a lease with the call that took it"},
	{"ContextHasTheCause", "grants leases that have ended"},
	{"StatusDescribesTheHolder", "forgets the command"},
	{"StatusDescribesTheHolder", "has a SetGroup that does nothing"},
	{"BadTTL", "takes a TTL that is too long"},
	{"Break", "has a Break that does nothing"},
	{"Break", "breaks any lease"},
	{"Break", "breaks a free lock"},
	{"Break", "breaks a lease for the last waiter"},
	{"Break", "breaks a lease and forgets the fence"},
	{"Break", "has a Keep that does nothing"},
	{"Break", "does not say who broke a lock"},
	{"BrokenTick", "has a Break that does nothing"},
	{"BreakMeetsNoOther", "breaks any lease"},
	{"BreakMeetsNoOther", "has a Break that does nothing"},
	{"Slots", "has a SetNote that does nothing"},
	{"SlotsAreNeverMore", "grants a lock twice"},
	{"SlotsAndNoSlots", "shows every lock as free"},
	{"Lead", "grants a lock twice"},
	{"OnceKeepsARecord", "loses the note with a release"},
	{"OnceKeepsARecord", "has one note for all locks"},
	{"OnceKeepsARecord", "cuts notes off"},
	{"OnceAfterTheLease", "lets a lease that has ended write the note"},
	{"OncePerTick", "has a SetNote that does nothing"},
	{"EventsOfALease", "does not report that a lease has begun"},
	{"EventsOfALease", "reports a lease after the call has returned"},
	{"EventsOfALease", "reports a lease twice"},
	{"EventsOfALease", "reports another fence"},
	{"EventsOfALease", "reports no time"},
	{"EventsOfALease", "reports silence after the lease has begun"},
	{"EventsOfALease", "does not report a release"},
	{"EventsOfALease", "reports a release twice"},
	{"EventsOfWaiters", "does not report that a call waits"},
	{"EventsOfWaiters", "reports at each look that a call waits"},
	{"EventsOfWaiters", "reports a refusal to a call that does not wait"},
	{"EventsOfWaiters", "reports a lease to a call that gave up"},
	{"EventsOfWaiters", "does not report that a call has failed"},
	{"EventsOfWaiters", "reports a failure twice"},
	{"EventsOfWaiters", "reports another error"},
	{"EventsOfWaiters", "reports a failure after the call has returned"},
	{"EventsOfWaiters", "reports another context"},
	{"EventsOfALease", "reports another context"},
	{"EventsOfALease", "reports a failure after the lease has begun"},
	{"EventsOfALostLease", "does not report that a lease was lost"},
	{"EventsOfALostLease", "reports a loss without a reason"},
	{"EventsOfALostLease", "reports a release before a loss"},
	{"EventsOfALostLease", "reports the release of a lease that was lost"},
	{"EventsThatPanic", "keeps a lock after a panic"},
	{"EventsThatPanic", "lets those that gave up stay in the queue"},
	{"EventsThatPanic", "does not report that a call has failed"},
}

type mutant struct{ check, fault string }

// A mutant that survives shows what an engine may break without failing the suite.
func TestMutants(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 2 * time.Second // a mutant that does not answer is broken enough
	for _, c := range checks {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.check == c.name }) {
			t.Errorf("no mutant shows that the check %s notices anything; add one to mutants", c.name)
		}
	}
	for method := range reflect.TypeFor[engine.Keeper]().Methods() {
		fault := "has a " + method.Name + " that does nothing"
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.fault == fault }) {
			t.Errorf("no mutant %q; add it to mutants and to memory_test.go, with a check that notices it", fault)
		}
	}
	for _, mutant := range mutants {
		t.Run(mutant.check+"/"+mutant.fault, func(t *testing.T) {
			i := slices.IndexFunc(checks, func(c check) bool { return c.name == mutant.check })
			if i < 0 {
				t.Fatalf("there is no check %s", mutant.check)
			}
			synctest.Test(t, func(t *testing.T) { // in which waiting takes no time
				failures := testenv.Trial(t, func(trial testing.TB) {
					j := newJournal(trial)
					if !strings.HasPrefix(mutant.check, "Events") {
						j.ignored = true // the check itself must notice the fault
					}
					checks[i].on(trial, j, newMemory(mutant.fault).open)
				})
				if len(failures) == 0 {
					t.Errorf("the check %s passes an engine that is wrong: it %s; make the check notice that", mutant.check, mutant.fault)
					return
				}
				t.Logf("%.300s", failures[0])
			})
		})
	}
}
