/*
 * The lease of package redislock, for the model checker Spin: two clients that
 * want one lock, the network between them and Redis, and the clock.
 *
 * Each process below chooses among the steps that are possible, and need never
 * take one. So a client is stopped at any point and for any time, and requests and
 * replies are late by any amount. A hint only makes a client ask, and a waiting
 * client may ask at any time, so hints need no model of their own.
 *
 * Every time is kept as what is left of it. A fence is kept as its age: 0 is the
 * highest fence that was ever granted, 1 the one before, OLDEST all before that.
 * So neither time nor the number of grants needs a bound.
 *
 * A renewal may also write the lock's value again, with the fence and the owner of the
 * lease, as SetGroup does. A client that asks for a free lock may guess its fence from
 * what it remembers: the guess is a new fence, or one that was granted before.
 *
 * What must hold:
 *   - two clients are never inside their deadlines at once;
 *   - a client that has lost the lock learns it by its next renewal: none is answered
 *     with "renewed" while the lease does not have the lock;
 *   - a resource that refuses every fence below the highest it has seen never
 *     refuses a client that is inside its deadline, and never takes the writes of
 *     two acquisitions for those of one.
 *
 * Each of these, defined with -D, spoils the protocol, and one of them fails:
 * DEADLINE_FROM_REPLY, LEASE_FROM_MESSAGE, NO_NONCE, FENCE_FORGOTTEN,
 * OWNER_IS_CLIENT, RENEWAL_UNCHECKED, RENEWAL_WITHOUT_FENCE, GROUP_UNCHECKED, GROUP_STALE,
 * GUESS_NOT_COMPARED, PASSED_FROM_REPLY, PASSED_TO_CLIENT. With REDIS_FORGETS Redis may lose everything that it has; then
 * two clients can be inside their deadlines, but no fence is granted twice. With PASSED a
 * release may pass the lock on to a waiter of the same process, and to keep the states
 * few nobody renews or guesses a fence, and nothing is reserved.
 */

#ifdef REDIS_FORGETS
#define TTL 1 /* ticks; only fences are checked */
#endif
#ifdef PASSED_FROM_REPLY
#define PASSED
#endif
#ifdef PASSED_TO_CLIENT
#define PASSED
#endif
#ifdef PASSED
#define TTL 1 /* ticks; with more there are too many states */
#endif
#ifndef TTL
#define TTL 2
#endif
#define RESERVATION 1 /* ticks */
#define HANDOVER (TTL - 1) /* ticks; only for LEASE_FROM_MESSAGE */
#define CLIENTS 2
#define OLDEST 2

mtype = { nothing, acquire, renew, release, granted, renewed, refused };

/* What Redis has. */
bool held;           /* somebody has the lock */
byte owner;          /* the client that has it */
bool formerOwner;    /* ... for an acquisition that has ended */
byte left;           /* until the key expires; 0: there is no key */
byte fence = OLDEST; /* of the holder or, while the lock is free, of the last one */
byte reserved;       /* left of a reservation */
byte reservedFor;

/* What a client has. */
mtype = { idle, waiting, holding };
mtype phase[CLIENTS] = idle;
byte deadline[CLIENTS]; /* left of its lease */
byte leaseFence[CLIENTS] = OLDEST;
bool asking[CLIENTS];   /* it waits for a reply */
byte sent[CLIENTS];     /* left of a TTL that began before the request was sent */

/*
 * What is under way. A client has two slots: c is for the request whose reply it
 * waits for, LATE(c) for one that it no longer waits for, or a copy.
 */
#define LATE(c) (c + CLIENTS)
#define CLIENT(slot) (slot % CLIENTS)
#define SLOTS 4
mtype request[SLOTS] = nothing;
bool former[SLOTS]; /* the request belongs to an acquisition that has ended */
mtype reply[SLOTS] = nothing;
byte replyFence[SLOTS] = OLDEST;

/* What a resource has seen. */
byte written = OLDEST; /* the highest fence */
byte writer;           /* who wrote with it */
bool formerWriter;

#ifdef PASSED
/* A release may pass the lock on to a waiter of the same process, see doRelease. */
mtype = { nobody, waiter, formerWaiter };
mtype heir[CLIENTS] = nobody; /* to which acquisition of the other client the last release of c passes it on */
byte passSent[CLIENTS]; /* left of a TTL that began before the release was sent that passes it on to c */
bool passed[CLIENTS];   /* the reply said so, and c has not looked at it */
byte passedFence[CLIENTS] = OLDEST;
#endif

#ifdef LEASE_FROM_MESSAGE
bool queued[CLIENTS];
byte placed[CLIENTS];  /* left of HANDOVER since it last asked and was refused */
bool message[CLIENTS]; /* "the lock is yours", to this acquisition */
byte messageFence[CLIENTS] = OLDEST;
#endif

#define down(x) x = (x > 0 -> x - 1 : 0)
#define older(age) age = (age < OLDEST -> age + 1 : OLDEST)

/* rise grants a new highest fence: all others are older now. */
inline rise() {
	older(leaseFence[0]); older(leaseFence[1]); older(written);
#ifdef PASSED
	older(passedFence[0]); older(passedFence[1]);
#endif
	older(replyFence[0]); older(replyFence[1]); older(replyFence[2]); older(replyFence[3]);
#ifdef LEASE_FROM_MESSAGE
	older(messageFence[0]); older(messageFence[1]);
#endif
	fence = 0
}

/*
 * hold gives the lock to c, with a fence one above that which Redis remembers.
 * Where it remembers none, the fence comes from its clock, which is ahead of all
 * fences.
 */
inline hold(c, isFormer, time) {
	if
	:: left > 0 && fence > 0 -> fence = fence - 1 /* granted before */
	:: left > 0 && fence == 0 -> rise()
	:: left == 0 ->
#ifdef FENCE_FORGOTTEN
		fence = OLDEST /* it begins at 1 again */
#else
		rise()
#endif
	fi;
	give(c, isFormer, time)
}

inline give(c, isFormer, time) {
	held = true; owner = c; formerOwner = isFormer; left = time;
	reserved = 0; reservedFor = 0
}

/* above says whether a guess of that age is greater than the fence that Redis remembers. */
#ifdef GUESS_NOT_COMPARED
#define above(age) true
#else
#define above(age) (age < fence)
#endif

/* guess gives the lock to c with the fence that it guesses. */
inline guess(c, isFormer) {
	if
	:: rise()
	:: above(0) -> fence = 0
	:: above(1) -> fence = 1
	fi;
	give(c, isFormer, TTL)
}

/* owns says whether the holder is the acquisition that sent the request. */
#ifdef OWNER_IS_CLIENT
#define owns(slot) (held && owner == CLIENT(slot))
#else
#define owns(slot) (held && owner == CLIENT(slot) && formerOwner == former[slot])
#endif

/* has says whether the lease that sent the request has the lock. */
#define has(slot) (held && owner == CLIENT(slot) && formerOwner == former[slot] && fence == leaseFence[CLIENT(slot)])

/* What the script for renewals compares, and with which fence SetGroup writes the value. */
#ifdef RENEWAL_UNCHECKED
#define mayRenew(slot) true
#else
#ifdef RENEWAL_WITHOUT_FENCE
#define mayRenew(slot) owns(slot)
#else
#define mayRenew(slot) (owns(slot) && fence == leaseFence[CLIENT(slot)])
#endif
#endif
#ifdef GROUP_UNCHECKED
#define mayWrite(slot) !former[slot]
#else
#define mayWrite(slot) mayRenew(slot)
#endif
#ifdef GROUP_STALE
#define groupFence(c) (leaseFence[c] < OLDEST -> leaseFence[c] + 1 : OLDEST)
#else
#define groupFence(c) leaseFence[c]
#endif

/* A late reply has the nonce of another request: its client throws it away. */
#ifdef NO_NONCE
#define listens(slot) true
#else
#define listens(slot) (slot < CLIENTS)
#endif

inline answer(slot, what, itsFence) {
	if
	:: listens(slot) -> reply[slot] = what; replyFence[slot] = itsFence
	:: true /* lost */
	fi
}

/* What the scripts in Redis do. */

inline doAcquire(slot) {
	if
	:: owns(slot) ->
		left = TTL;
		answer(slot, granted, fence)
	:: !owns(slot) && (held || reserved > 0 && reservedFor != CLIENT(slot)) ->
#ifdef LEASE_FROM_MESSAGE
		queued[CLIENT(slot)] = queued[CLIENT(slot)] || !former[slot];
#endif
		answer(slot, refused, OLDEST)
	:: else ->
		if
		:: hold(CLIENT(slot), former[slot], TTL)
#ifndef PASSED
		:: left > 0 && reserved == 0 -> guess(CLIENT(slot), former[slot])
#endif
		fi;
		answer(slot, granted, fence)
	fi
}

inline doRenew(slot) {
	if
	:: mayRenew(slot) ->
		assert(slot >= CLIENTS || has(slot)); /* who has lost the lock is not told so */
		left = TTL;
		answer(slot, renewed, OLDEST)
	:: mayWrite(slot) -> /* SetGroup */
		fence = groupFence(CLIENT(slot));
		give(CLIENT(slot), former[slot], TTL);
		answer(slot, renewed, OLDEST)
	:: else -> answer(slot, refused, OLDEST)
	fi
}

inline doRelease(slot) {
	if
#ifdef PASSED
	:: owns(slot) && heir[CLIENT(slot)] != nobody ->
		hold((1 - CLIENT(slot)), (heir[CLIENT(slot)] == formerWaiter), TTL);
		if
		:: heir[CLIENT(slot)] == waiter -> passed[1 - CLIENT(slot)] = true; passedFence[1 - CLIENT(slot)] = fence
		:: true /* the reply is lost */
		fi
#endif
	:: owns(slot) ->
		held = false; owner = 0; formerOwner = false;
		left = TTL;
		if
		:: true /* nobody waits */
#ifndef PASSED
		:: reserved = RESERVATION; reservedFor = 0
		:: reserved = RESERVATION; reservedFor = 1
#endif
		fi;
#ifdef LEASE_FROM_MESSAGE
		if
		:: queued[1 - CLIENT(slot)] ->
			hold((1 - CLIENT(slot)), false, HANDOVER);
			queued[1 - CLIENT(slot)] = false;
			message[1 - CLIENT(slot)] = true; messageFence[1 - CLIENT(slot)] = fence
		:: else
		fi
#endif
	:: else
	fi
}

/*
 * network carries the requests of a slot to Redis and the replies back: late, more
 * than once, or never.
 */
proctype network(byte s) {
	do
	:: atomic {
		request[s] != nothing ->
		if
		:: request[s] == acquire -> doAcquire(s)
		:: request[s] == renew -> doRenew(s)
		:: request[s] == release -> doRelease(s)
		fi;
		if
		:: s < CLIENTS -> request[LATE(CLIENT(s))] = request[s]; former[LATE(CLIENT(s))] = false /* a copy is on its way */
		:: true
		fi;
		if
		:: request[s] = nothing; former[s] = false
		:: s >= CLIENTS /* it comes again */
		fi
	   }
#ifdef NO_NONCE
	:: atomic { s >= CLIENTS && reply[s] != nothing -> reply[s] = nothing; replyFence[s] = OLDEST }
#endif
	od
}

/* forget makes the request that c waits for, and the reply to it, late ones. */
inline forget(c) {
	if
	:: request[c] != nothing -> request[LATE(c)] = request[c]; former[LATE(c)] = false
	:: true
	fi;
#ifdef NO_NONCE
	if
	:: reply[c] != nothing -> reply[LATE(c)] = reply[c]; replyFence[LATE(c)] = replyFence[c]
	:: true
	fi;
#endif
	request[c] = nothing; reply[c] = nothing; replyFence[c] = OLDEST;
	asking[c] = false; sent[c] = 0
}

inline ask(c, what) {
	request[c] = what; asking[c] = true; sent[c] = TTL
}

/* end ends the acquisition of c, and what is under way belongs to a former one. */
inline end(c) {
	forget(c);
	phase[c] = idle; deadline[c] = 0; leaseFence[c] = OLDEST;
	former[LATE(c)] = request[LATE(c)] != nothing;
	formerOwner = held && (formerOwner || owner == c);
	formerWriter = written < OLDEST && (formerWriter || writer == c);
#ifdef PASSED
	heir[1 - c] = (heir[1 - c] == waiter -> formerWaiter : heir[1 - c]);
#ifndef PASSED_TO_CLIENT
	passed[c] = false; passedFence[c] = OLDEST; passSent[c] = 0;
#endif
#endif
#ifdef LEASE_FROM_MESSAGE
	queued[c] = false; placed[c] = 0; message[c] = false; messageFence[c] = OLDEST
#endif
}

/* believe gives c a lease, or more time. */
inline believe(c, time) {
	deadline[c] = (time > deadline[c] -> time : deadline[c]);
#ifndef REDIS_FORGETS
	assert(deadline[0] == 0 || deadline[1] == 0) /* two clients inside their deadlines */
#endif
}

#ifdef DEADLINE_FROM_REPLY
#define safe(c) TTL
#else
#define safe(c) sent[c]
#endif

#ifdef PASSED_FROM_REPLY
#define passTime(c) TTL
#else
#define passTime(c) passSent[c]
#endif

/* A renewal whose reply comes after the deadline is too late. */
#define lives(c) (deadline[c] > 0)

/* take looks at a reply, which c believes to be the one that it waits for. */
inline take(c, slot) {
	if
	:: phase[c] == waiting && reply[slot] == granted ->
		phase[c] = holding; leaseFence[c] = replyFence[slot];
		believe(c, safe(c))
	:: phase[c] == waiting && reply[slot] != granted ->
#ifdef LEASE_FROM_MESSAGE
		placed[c] = (sent[c] > TTL - HANDOVER -> sent[c] - (TTL - HANDOVER) : 0);
#endif
		skip
	:: phase[c] == holding && reply[slot] != refused && lives(c) -> believe(c, safe(c))
	:: phase[c] == holding && (reply[slot] == refused || !lives(c)) -> deadline[c] = 0
	fi;
	reply[slot] = nothing; replyFence[slot] = OLDEST;
	forget(c)
}

/* write sends a write to the resource, perhaps long after c looked at its deadline. */
inline write(c) {
	if
	:: leaseFence[c] < written -> written = leaseFence[c]; writer = c; formerWriter = false
	:: leaseFence[c] == written && written < OLDEST ->
		assert(writer == c && !formerWriter) /* one fence for two acquisitions */
	:: leaseFence[c] == OLDEST && written == OLDEST /* these cannot be compared here */
	:: leaseFence[c] > written ->
#ifndef REDIS_FORGETS
		assert(deadline[c] == 0) /* the fence of a holder has fallen behind */
#else
		skip
#endif
	fi
}

proctype client(byte me) {
	do
	:: atomic { phase[me] == idle -> phase[me] = waiting }
	:: atomic { phase[me] == waiting && !asking[me] -> ask(me, acquire) }
#ifndef PASSED
	:: atomic { phase[me] == holding && lives(me) && !asking[me] -> ask(me, renew) }
#endif
	:: atomic { asking[me] -> forget(me) } /* there was no reply for too long */
	:: atomic { asking[me] && reply[me] != nothing -> take(me, me) }
#ifdef NO_NONCE
	:: atomic { asking[me] && reply[LATE(me)] != nothing -> take(me, LATE(me)) }
#endif
#ifdef LEASE_FROM_MESSAGE
	:: atomic {
		phase[me] == waiting && message[me] && placed[me] > 0 ->
		phase[me] = holding; leaseFence[me] = messageFence[me];
		believe(me, placed[me]);
		forget(me);
		message[me] = false; messageFence[me] = OLDEST; placed[me] = 0
	   }
#endif
#ifdef PASSED
	:: atomic {
		phase[me] == waiting && passed[me] ->
		if
		:: passTime(me) > 0 -> phase[me] = holding; leaseFence[me] = passedFence[me]; believe(me, passTime(me)); forget(me)
		:: else
		fi;
		passed[me] = false; passedFence[me] = OLDEST; passSent[me] = 0
	   }
#endif
	:: atomic { phase[me] == holding -> write(me) }
	:: atomic {
		phase[me] != idle -> end(me);
		if
		:: request[LATE(me)] = release; former[LATE(me)] = true; /* sent by itself, or by a client that saw it die */
#ifdef PASSED
			if
			:: phase[1 - me] == waiting && !passed[1 - me] -> heir[me] = waiter; passSent[1 - me] = TTL
			:: heir[me] = nobody
			fi
#else
			skip
#endif
		:: true /* it has crashed */
		fi
	   }
	od
}

proctype clock() {
	do
	:: atomic {
		down(left); down(reserved);
		down(deadline[0]); down(deadline[1]); down(sent[0]); down(sent[1]);
#ifdef PASSED
		down(passSent[0]); down(passSent[1]);
#endif
#ifdef LEASE_FROM_MESSAGE
		down(placed[0]); down(placed[1]);
#endif
		if
		:: left == 0 -> held = false; owner = 0; formerOwner = false; fence = OLDEST; reserved = 0
		:: else
		fi;
		reservedFor = (reserved > 0 -> reservedFor : 0)
	   }
#ifdef REDIS_FORGETS
	:: atomic { held = false; owner = 0; formerOwner = false; left = 0; fence = OLDEST; reserved = 0; reservedFor = 0 }
#endif
	od
}

init {
	atomic {
		run client(0); run client(1);
		run network(0); run network(1); run network(LATE(0)); run network(LATE(1));
		run clock()
	}
}
