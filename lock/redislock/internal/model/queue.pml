/*
 * The queue of package redislock, for the model checker Spin: who wakes the next
 * waiter when the lock is released and waiters die.
 *
 * The lock's TTL does not end here, and after the first release nobody polls: both
 * wake every waiter sooner or later, and would hide what the hints and the short
 * timers do.
 *
 * What must hold:
 *   - when nothing more can happen, no live waiter waits;
 *   - the dead cost one reservation, however many they are.
 *
 * Waiters get their tickets in the order of their numbers, belong to processes, and
 * die with them. While the first holder has the lock, processes die freely; if
 * several have, a live waiter polls last before the release. After the release one
 * thing goes wrong: a process dies if none has yet, a process loses its subscription,
 * or a waiter gives up (unless several processes have died). A reservation passes at
 * any time, also before anybody heard of it.
 *
 * With BY_CLIENT, Redis refuses to publish hints within a script. The process whose
 * request the script served publishes them afterwards, unless it dies before that: then
 * the waiters wait for their next poll.
 *
 * With LOCAL, a waiter whose process has a request that has the lock, or asks for it, and
 * that never queued, waits aside: it does not ask Redis. The release of such a holder
 * gives the lock to the first waiter that is aside, if nobody queues; otherwise that
 * waiter asks. A request that is refused makes all that are aside ask. Each of them also
 * asks after a short time, which is left out as polls are.
 *
 * Each of these, defined with -D, spoils the protocol, and one of the two fails:
 * NO_TIMER, NO_ROLL_CALL, NO_NEW_ASK, ONLY_HEAD, ANY_PROCESS, NO_SCAN,
 * DROPPED, BY_CLIENT_NO_POLL, LOCAL_FORGOTTEN, LOCAL_FIRST.
 */

#ifdef LOCAL_FORGOTTEN
#define LOCAL
#endif
#ifdef LOCAL_FIRST
#define LOCAL
#endif

#ifdef BY_CLIENT_NO_POLL
#define BY_CLIENT
#endif

#ifdef NO_ROLL_CALL
#define WAITERS 4 /* two dead and two that live */
#endif
#ifndef WAITERS
#define WAITERS 3
#endif
#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef FAULTS
#define FAULTS 1
#endif
#define NOBODY WAITERS
#define FIRST (WAITERS + 1) /* the first holder */

mtype = { absent, aside, waiting, holding, done }; /* waiters */
mtype = { free, reserved, passed, held };   /* the lock */
mtype = { none, current, due };             /* timers */
mtype = { refusedForNow, refusedWhileHeld, granted }; /* replies */

/* What Redis has. */
mtype lock = held;
byte owner = FIRST;     /* who holds it, or for whom it is reserved */
bool queued[WAITERS];
byte heard = NOBODY;    /* the waiter that was heard of last */
byte other = NOBODY;    /* ... and the last of another process than that of heard */
bool somebody;          /* the key of heard exists */

/* What waiters have. */
mtype state[WAITERS] = absent;
byte process[WAITERS];
bool dead[PROCESSES];
mtype reply[WAITERS] = none;
mtype timer[WAITERS] = none; /* current: it ends after the reservation that there is */

#ifdef LOCAL
bool ticket[WAITERS];
bool turn[WAITERS];              /* it is made to ask */
byte front[PROCESSES] = NOBODY; /* has the lock or asks for it, and has no ticket */
#endif

/* Messages under way. */
bool askHint[WAITERS];
bool laterHint[WAITERS];
bool allHint[PROCESSES];

#ifdef BY_CLIENT
/* Messages that a script leaves to the process that called it. */
bool askOut[WAITERS];
bool laterOut[WAITERS];
bool allOut[PROCESSES];
#define post(now, out, is) out = out || is
#else
#define post(now, out, is) now = now || is
#endif

byte faults = FAULTS;
byte wasted; /* reservations for dead waiters */
byte w1, w2; /* for loops; 0 between steps */

#define DEATHS (dead[0] + dead[1] + dead[2])
#define live(w) (!dead[process[w]])
#define hears(w) (live(w) && state[w] == waiting)

/* silence forgets what is of no use any more: w has died, or waits no longer. */
inline silence(w) {
	reply[w] = none; timer[w] = none; askHint[w] = false; laterHint[w] = false;
#ifdef LOCAL
	turn[w] = false
#endif
}

/* over ends the reservation: timers that waited for its end run out. */
inline over() {
	w1 = 0;
	do
	:: w1 < WAITERS -> timer[w1] = (timer[w1] == current -> due : timer[w1]); w1++
	:: else -> break
	od;
	w1 = 0
}

/* rollCall drops all places and tells every process with one to ask again. */
inline rollCall() {
	w1 = 0;
	do
	:: w1 < WAITERS ->
		post(allHint[process[w1]], allOut[process[w1]], queued[w1] && live(w1));
		queued[w1] = false;
		w1++
	:: else -> break
	od;
	w1 = 0
}

/* hear keeps w as the waiter that was heard of last. */
inline hear(w) {
	other = (heard < NOBODY && process[heard] != process[w] -> heard : other);
	heard = w; somebody = true
}

inline doAsk(w) {
	timer[w] = none;
	if
	:: lock == held ->
		queued[w] = true; reply[w] = refusedWhileHeld;
		if
		:: hear(w)
		:: somebody && heard < NOBODY && process[heard] == process[w] /* not long after another */
		fi
	:: lock == reserved && owner != w ->
		queued[w] = true; reply[w] = refusedForNow;
		if
		:: !somebody -> hear(w)
		:: else
		fi
	:: else ->
		queued[w] = false;
		if
		:: lock == passed && owner != w ->
			wasted = wasted + !live(owner);
			assert(wasted <= 1); /* the dead cost more than one reservation */
#ifdef NO_ROLL_CALL
			queued[owner] = false;
#else
			rollCall()
#endif
		:: else
		fi;
		if
		:: lock == reserved -> over()
		:: else
		fi;
		lock = held; owner = w; reply[w] = granted
	fi
}

/* suits says whether w may get the second hint. */
#ifdef ANY_PROCESS
#define suits(w, first) (w < NOBODY && queued[w])
#else
#define suits(w, first) (w < NOBODY && queued[w] && process[w] != process[first])
#endif

/*
 * tellLater tells a waiter to ask when the reservation is over, should it still be
 * waiting: one of another process than that of first, which is the head of the queue.
 * If possible this is one of the two that were heard of last.
 */
inline tellLater(first) {
	if
	:: other == NOBODY && heard < NOBODY && process[heard] == process[first] -> w2 = NOBODY /* there is one process */
	:: else ->
		if
		:: suits(heard, first) -> w2 = heard
		:: !suits(heard, first) && suits(other, first) -> w2 = other
		:: else ->
			w2 = WAITERS - 1;
			do
			:: w2 < NOBODY && !suits(w2, first) -> w2 = (w2 == 0 -> NOBODY : w2 - 1)
			:: else -> break
			od;
#ifdef NO_SCAN
			w2 = NOBODY
#endif
		fi
	fi;
#ifdef ONLY_HEAD
	w2 = NOBODY;
#endif
	if
	:: w2 < NOBODY -> post(laterHint[w2], laterOut[w2], hears(w2))
	:: else
	fi;
	w2 = 0
}

/* head finds the first in the queue. */
inline head() {
	w1 = 0;
	do
	:: w1 < WAITERS && !queued[w1] -> w1++
	:: else -> break
	od
}

/*
 * pass gives the lock on, by a request of by: to the head of the queue if it is of the
 * same process, or by a reservation for it, and hints.
 */
inline pass(by) {
	head();
	if
	:: !somebody || w1 == WAITERS ->
		somebody = false; heard = NOBODY; other = NOBODY; lock = free; owner = NOBODY
	:: somebody && w1 < WAITERS && by < WAITERS && process[w1] == process[by] && live(by) && hears(w1) ->
		queued[w1] = false; lock = held; owner = w1; reply[w1] = granted
	:: somebody && w1 < WAITERS ->
		lock = reserved; owner = w1;
		post(askHint[w1], askOut[w1], hears(w1));
		tellLater(w1)
	fi;
	w1 = 0
}

inline doRelease(w) {
	if
	:: w < WAITERS -> queued[w] = false
	:: else
	fi;
	if
	:: (lock == held || lock == reserved || lock == passed) && owner == w ->
		if
		:: lock == reserved -> over()
		:: else
		fi;
		pass(w)
	:: (lock == reserved || lock == passed) && owner != w ->
#ifndef DROPPED
		head();
		if
		:: w < WAITERS && w1 < WAITERS -> tellLater(w1) /* w may have been the one that was told */
		:: else
		fi;
		w1 = 0
#else
		skip
#endif
	:: else
	fi
}

#ifdef LOCAL
/* resign makes all that wait for w ask. */
inline resign(w) {
	if
	:: front[process[w]] == w ->
		front[process[w]] = NOBODY;
		w1 = 0;
		do
		:: w1 < WAITERS ->
#ifndef LOCAL_FORGOTTEN
			turn[w1] = turn[w1] || state[w1] == aside && process[w1] == process[w] && w1 != w;
#endif
			w1++
		:: else -> break
		od;
		w1 = 0
	:: else
	fi
}

#define isHeir(h, w) (state[h] == aside && process[h] == process[w] && h != w)

/* succeed gives the lock of w to the first that is aside, if nobody queues. */
inline succeed(w) {
	w1 = 0;
	do
	:: w1 < WAITERS && !isHeir(w1, w) -> w1++
	:: else -> break
	od;
	w2 = w1; w1 = 0;
	if
	:: w2 < WAITERS && front[process[w]] == w ->
		front[process[w]] = w2;
#ifdef LOCAL_FIRST
		if
		:: true ->
#else
		if
		:: !somebody ->
#endif
			lock = held; owner = w2; reply[w2] = granted;
			w1 = 0;
			do
			:: w1 < WAITERS -> assert(!queued[w1] || !live(w1)); w1++ /* it overtakes the queue */
			:: else -> break
			od;
			w1 = 0
		:: else -> turn[w2] = true; w2 = 0; doRelease(w)
		fi
	:: else -> resign(w); w2 = 0; doRelease(w)
	fi;
	w2 = 0
}
#endif

proctype waiter(byte me) {
end:	do
	/* It joins after the one before it. */
	:: atomic {
		state[me] == absent && (me == 0 || state[me - 1] != absent) ->
		if
#ifdef LOCAL
		:: live(me) && front[process[me]] != NOBODY -> state[me] = aside
		:: live(me) && front[process[me]] == NOBODY -> front[process[me]] = me; state[me] = waiting; doAsk(me)
#else
		:: live(me) -> state[me] = waiting; doAsk(me)
#endif
		:: !live(me) -> state[me] = done
		fi
	   }
#ifdef LOCAL
	:: atomic { live(me) && state[me] == aside && turn[me] && reply[me] == none -> turn[me] = false; state[me] = waiting; doAsk(me) }
	:: atomic {
		faults > 0 && DEATHS <= 1 && live(me) && state[me] == aside ->
		faults--; state[me] = done; silence(me); resign(me); doRelease(me)
	   }
#endif
	/* It looks at a reply. */
	:: atomic {
		live(me) && reply[me] == granted ->
		state[me] = holding; silence(me);
#ifdef LOCAL
		front[process[me]] = (ticket[me] -> front[process[me]] : me)
#endif
	   }
	:: atomic {
		live(me) && reply[me] == refusedWhileHeld ->
		reply[me] = none;
#ifdef LOCAL
		ticket[me] = true; resign(me)
#endif
	   }
	:: atomic {
		live(me) && reply[me] == refusedForNow ->
		reply[me] = none;
#ifdef LOCAL
		ticket[me] = true; resign(me);
#endif
#ifndef NO_TIMER
		timer[me] = (lock == reserved -> current : due)
#endif
	   }
	/* It polls; only before the first release, see above. */
	:: atomic {
		hears(me) && lock == held && owner == FIRST && heard != me && reply[me] == none -> hear(me)
	   }
	/* Something makes it ask. */
	:: atomic {
		state[me] == waiting && live(me) && reply[me] == none && timer[me] == due -> doAsk(me)
	   }
	:: atomic {
		hears(me) && askHint[me] && reply[me] == none -> askHint[me] = false; doAsk(me)
	   }
	:: atomic {
		hears(me) && laterHint[me] ->
		laterHint[me] = false;
		timer[me] = (lock == reserved -> current : due)
	   }
#ifdef BY_CLIENT
	/* The hint for it is published. */
	:: atomic { askOut[me] -> askOut[me] = false; askHint[me] = askHint[me] || hears(me) }
	:: atomic { laterOut[me] -> laterOut[me] = false; laterHint[me] = laterHint[me] || hears(me) }
#endif
	/* It releases, or gives up. */
#ifdef LOCAL
	:: atomic { state[me] == holding -> state[me] = done; succeed(me) }
#else
	:: atomic { state[me] == holding -> state[me] = done; doRelease(me) }
#endif
	:: atomic {
		faults > 0 && DEATHS <= 1 && hears(me) && reply[me] == none ->
		faults--; state[me] = done; silence(me);
#ifdef LOCAL
		resign(me);
#endif
		doRelease(me)
	   }
	:: state[me] == done || !live(me) && state[me] != holding -> break
	od
}

proctype channel(byte p) {
	byte w;
end:	do
	:: atomic {
		!dead[p] && allHint[p] ->
		allHint[p] = false;
		w = 0;
		do
		:: w < WAITERS ->
			askHint[w] = askHint[w] || process[w] == p && hears(w);
			w++
		:: else -> break
		od;
		w = 0
	   }
#ifdef BY_CLIENT
	:: atomic { allOut[p] -> allOut[p] = false; allHint[p] = allHint[p] || !dead[p] }
#endif
	od
}

proctype world() {
	byte w, p;
	do
	:: atomic {
		lock == held && owner == FIRST && (heard == NOBODY || hears(heard) || DEATHS <= 1) -> doRelease(FIRST)
	   }
	:: atomic { lock == reserved -> lock = passed; over() }
	/* A process dies, if none of its waiters has the lock. */
	:: atomic {
		(lock == held && owner == FIRST || faults > 0 && DEATHS == 0) ->
		p = 0;
		do
		:: p < PROCESSES - 1 -> p++
		:: break
		od;
		w = 0;
		do
		:: w < WAITERS && (process[w] != p || state[w] == absent || (state[w] == waiting || state[w] == aside) && (lock != held || owner != w)) -> w++
		:: else -> break
		od;
		if
		:: w == WAITERS && !dead[p] -> 
			dead[p] = true; allHint[p] = false;
			w = 0;
			do
			:: w < WAITERS && process[w] == p && (state[w] == waiting || state[w] == aside) -> silence(w); w++
			:: w < WAITERS && (process[w] != p || state[w] != waiting && state[w] != aside) -> w++
			:: else -> break
			od
		:: else
		fi;
		p = 0; w = 0
	   }
	/* A process loses its subscription, with all messages, and makes a new one. */
	:: atomic {
		faults > 0 ->
		p = 0;
		do
		:: p < PROCESSES - 1 -> p++
		:: break
		od;
		w = 0;
		do
		:: w < WAITERS && process[w] == p -> askHint[w] = false; laterHint[w] = false; w++
		:: w < WAITERS && process[w] != p -> w++
		:: else -> break
		od;
		faults--;
#ifdef NO_NEW_ASK
		allHint[p] = false;
#else
		allHint[p] = !dead[p];
#endif
		p = 0; w = 0
	   }
#ifdef BY_CLIENT
	/* A process dies before it publishes the rest of its hints. Later the waiters poll. */
	:: atomic {
		faults > 0 ->
		w = 0;
		do
		:: w < WAITERS ->
			askOut[w] = false; laterOut[w] = false;
#ifndef BY_CLIENT_NO_POLL
			askHint[w] = hears(w);
#endif
			w++
		:: else -> break
		od;
		do
		:: p < PROCESSES -> allOut[p] = false; p++
		:: else -> break
		od;
		faults--;
		p = 0; w = 0
	   }
#endif
	:: atomic { faults > 0 -> faults = 0 } /* no more of these */
	:: timeout -> break
	od;
	w = 0;
	do
	:: w < WAITERS -> assert(state[w] != waiting && state[w] != aside || !live(w)); w++ /* nobody wakes it */
	:: else -> break
	od
}

init {
	byte w, p, q;
	atomic {
		do
		:: w < WAITERS ->
			q = 0; /* one of the processes so far, or the next */
			do
			:: q < p && q < PROCESSES - 1 -> q++
			:: break
			od;
			process[w] = q;
			p = (q == p -> p + 1 : p);
			w++
		:: else -> break
		od;
		w = 0; p = 0; q = 0;
		run waiter(0); run waiter(1); run waiter(2);
#if WAITERS > 3
		run waiter(3);
#endif
		run channel(0); run channel(1); run channel(2);
		run world()
	}
}
