package census

// The thresholds of a census, each with its reason. They trade findings that are
// missed for findings that are false, and the tests hold them on both sides.
const (
	// lateAfter is by how many seconds an id must be older than others before it
	// to be late. Clocks of hosts differ, and batches take time to be stored.
	lateAfter = 60

	// minYoungerBefore is how many younger ids must come before a late one. The
	// clock of a single younger one may be the wrong one.
	minYoungerBefore = 16

	// maxGap is how many counter values between two consecutive ids of a process
	// count as gaps. More are a jump: a restart, or very many ids elsewhere.
	maxGap = 1 << 20

	// maxRateElsewhere is how many ids per second a process may plausibly create
	// that are not in the data. It is above what drivers of MongoDB generate.
	maxRateElsewhere = 1 << 17

	// bigMove is a move of the counter that calls for an explanation: few
	// processes create as many ids elsewhere between two ids of a collection.
	bigMove = 1 << 16

	// maxStale is how far behind its sequence a counter may be to belong to a
	// thread that was overtaken by others.
	maxStale = 1 << 16

	// maxSequences is how many sequences of counters are followed for one process
	// value. Two processes have two; restarts begin new ones.
	maxSequences = 8

	// chanceBits are the bits of evidence that every return to an earlier counter
	// loses, and proofBits are those that chance does not reach: by chance a
	// counter returns that often once in 2^40 process values.
	chanceBits = 8
	proofBits  = 40

	// rememberedEnds is how many ends of big moves are remembered to recognize a
	// return, and rememberedBits what choosing one of them gives away.
	rememberedEnds = 1 << rememberedBits
	rememberedBits = 4

	// minStep is by how many seconds a clock must fall for a clock step. One
	// second is normal: a goroutine that has read the clock may be overtaken by
	// others before it takes its counter.
	minStep = 2

	// certainStep is a fall of the clock, in seconds, that one id alone proves.
	certainStep = 60

	// minBehind is how many ids must follow a smaller fall: a single one was only
	// late.
	minBehind = 2

	// staleIDs is how many counter values after a clock step may have times from
	// before it, from threads that had read the clock already.
	staleIDs = 1024

	// maxReversal is how many ids a fall of the clock lasts at most that is a
	// reversal, and minReversals how many of them, across half of the counters,
	// show two processes: one clock step with stale ids gives two or three.
	maxReversal  = 8
	minReversals = 8

	// A gap in the counters ends an arc if it is wider than arcGap plus
	// arcGapFactor times the process' mean step, a width that random intervals
	// practically never have.
	arcGap       = 1024
	arcGapFactor = 64

	// maxArcs bounds the time for comparing arcs with each other.
	maxArcs = 64

	// maxStepJumps, minStepIDs and maxSteps bound which processes may have jumps
	// that are in truth clock steps: few enough of them, ids enough to see it.
	maxStepJumps = 8
	minStepIDs   = 8
	maxSteps     = 4

	// maxBorrowed is how many seconds of a borrowed process value are checked.
	maxBorrowed = 256

	// fewProcesses is up to how many processes the same three machine bytes in
	// two of them are no coincidence: of 2^11 random values, two share their first
	// three bytes with a probability of an eighth.
	fewProcesses = 1 << 11

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
