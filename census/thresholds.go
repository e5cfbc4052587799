package census

import "github.com/oidkit/oid/census/internal/idset"

// The thresholds of a census, each with its reason. They trade findings that are
// missed for findings that are false, and the tests hold them on both sides.
const (
	// maxGap is how many counter values between two consecutive ids of a process
	// count as gaps. More are a jump: a restart, or very many ids elsewhere.
	maxGap = 1 << 20

	// maxStale is how far behind its sequence a counter may be to belong to a
	// thread that was overtaken by others.
	maxStale = 1 << 16

	// stepFactor is how many typical steps, and how many counters beside, a process moves
	// on at once: random steps of that mean exceed it with a probability of e^-44.
	stepFactor = 64

	// sparseFactor: a process whose typical step is more than this part of the counter's
	// range wraps between two ids every now and then, and nothing can be told of it.
	sparseFactor = 1024

	// proofBits are the bits of evidence that a finding takes in a census with a single
	// process value that has breaks: chance reaches them once in 2^14 of those. Each
	// doubling of their number beyond fewBroken takes one more.
	proofBits = 14
	fewBroken = 4

	// orderBits is what it is worth at most that the ids before and after a clock step
	// follow each other in the source, by no more than orderSpacing times the mean
	// spacing of the ids of the process. A source may be in any order.
	orderBits    = 6
	orderSpacing = 4

	// doubtBits are the bits of evidence from which it is said that a fault cannot be
	// told. Chance reaches them in one of 64 process values that have breaks.
	doubtBits = 6

	// nearBits is how much nearer to each other than by chance two lines are that may be
	// blocks of counters that threads have reserved: one of 256 pairs is, by chance.
	nearBits = 8

	// unlikeBlock are the bits from which a decrease of the time is unlike the end of a block of counters.
	// It is then worth up to surelyNone bits against blocks, and else likeBlock for them.
	unlikeBlock = 10
	surelyNone  = 24
	likeBlock   = 20

	// minSegment is how many ids show how far the ids of a thread are apart.
	minSegment = 8

	// longLine is how many counters a line covers, a quarter of all, for it to overlap
	// others by chance too often for that to be evidence.
	longLine = idset.CounterRange / 4

	// minTwins is how many counters at least would be used twice where lines overlap, for
	// none to show that they fit into each other.
	minTwins = 16

	// minDisorder is how many ids at least show counters that do not count, and minRapid
	// how many of them are further apart than fastest within a second: no process creates
	// as many ids, and no program is started that often within a second.
	minDisorder = 16
	minRapid    = 8
	fastest     = 1 << 21

	// minRacing is in how many seconds a sequence covers half of all counters to be none,
	// unless one in racingFactor of the counters, or more, has an id.
	minRacing    = 3
	racingFactor = 4

	// minTurns is how often two processes that take turns must have returned.
	minTurns = 2

	// idleFactor times the mean time from id to id is how long a line is not idle.
	idleFactor = 16

	// paceFactor times the fastest pace of a process is how far its counter may move on
	// from one line to the next without a restart.
	paceFactor = 8

	// minStep is by how many seconds a clock must be set back for a clock step. One
	// second is normal: a goroutine that has read the clock may be overtaken by
	// others before it takes its counter.
	minStep = 2

	// certainStep is by how many seconds a clock was set back if one id alone proves it.
	certainStep = 60

	// maxSingles bounds the memory for process values with one id, of which the
	// counters may make a sequence: steps of at most maxSingleStep counters and
	// maxSingleWait seconds, more than minSingles of them, that are not explained by
	// chance in one of 2^singleBits censuses.
	maxSingles    = 1 << 20
	maxSingleStep = 64
	maxSingleWait = 60 * 60
	minSingles    = 2
	singleBits    = 20

	// The usual number of ids in an hour is the median of usualPeriods days before and
	// after it, if there are minPeriods of them.
	usualPeriods = 6
	minPeriods   = 4

	// An import has importFactor times as many ids as usual, and importLeast more, in
	// ten minutes. One that recurs within a year, on minPeriods other days, is a job.
	importFactor = 10
	importLeast  = 50

	// A deletion takes deletionShare more of a day's ids than is usually missing. Days
	// with less than deletionLeast ids show nothing.
	// Up to maxQuietDays without are part of one between others.
	deletionShare = 0.3
	deletionLeast = 50
	maxQuietDays  = 2

	// minTwinSeconds is for how many seconds two processes use the same counters at
	// least. A restart within the last two seconds of a process may do so by chance.
	minTwinSeconds = 4

	// maxTurns bounds the memory for what lines show about each other, and maxSuspects
	// that for process values.
	maxTurns    = 1 << 17
	maxSuspects = 64

	// maxBorrowed is how many seconds of a borrowed process value are checked.
	maxBorrowed = 4096

	// farShare and farFactor: a timeline that is chosen to fit leaves out one in
	// farShare ids at either end if it is then farFactor times as short. Few wrong
	// clocks would otherwise hide the shape of all other ids.
	farShare  = 1000
	farFactor = 4
)

// What a report shows at most.
const (
	maxExamples = 6  // of a finding
	maxProblems = 10 // unreadable documents of a source
)
