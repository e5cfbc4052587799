package census

import "github.com/oidkit/oid/census/internal/idset"

// The thresholds of a census, each with its reason. Lower thresholds cause false findings,
// higher ones miss findings. Tests fail if a threshold is changed much in either direction.
const (
	// maxGap is the most counter values between two consecutive ids of a process that count
	// as gaps. More are a jump: the process was restarted, or created very many ids
	// elsewhere.
	maxGap = 1 << 20

	// maxStale is how far below the newest counter a late id may be in the first seconds of
	// a line.
	maxStale = 1 << 16

	// stepFactor limits by how much the counter of a process increases at once: to stepFactor
	// typical steps plus stepFactor. Random steps exceed that with a probability of e^-44.
	stepFactor = 64

	// sparseFactor: if the typical step is more than 1/sparseFactor of all counters, the
	// counter sometimes wraps around between two ids, and no fault can be told.
	sparseFactor = 1024

	// proofBits is how many bits of evidence a finding needs if up to fewBroken process
	// values have breaks. Chance causes that in one of 2^14 process values with breaks.
	// Each doubling of their number needs one more bit.
	proofBits = 14
	fewBroken = 4

	// orderBits is the most evidence from the order of the source: at a clock step, the id
	// after the step comes soon after the id before it. Soon means within orderSpacing
	// times the mean distance of ids. It is not more, because a source may have any order.
	orderBits    = 6
	orderSpacing = 4

	// doubtBits is how many bits of evidence a doubt needs. Chance causes that in one of 64
	// process values with breaks.
	doubtBits = 6

	// nearBits: lines that are nearer to each other than one of 256 random pairs may be
	// blocks of counters that threads reserved.
	nearBits = 8

	// unlikeBlock: a decrease of the time with at least that many bits does not look like
	// the end of a block of counters. It then counts as up to surelyNone bits against
	// blocks. Else it counts as likeBlock bits for blocks.
	unlikeBlock = 10
	surelyNone  = 24
	likeBlock   = 20

	// minSegment is the least number of ids that show how long the pauses of a thread are.
	minSegment = 8

	// longLine is the length of a line, in counters, from which overlaps are not evidence:
	// such a line covers a quarter of all counters and often overlaps others by chance.
	longLine = idset.CounterRange / 4

	// minTwins: if lines overlap, and at least that many counters should be used twice by
	// chance but none is, the ids of one line fit into the gaps of the other.
	minTwins = 16

	// At least minDisorder ids show that counters do not count up. At least minRapid of
	// them must be more than fastest counters apart within a second: no process creates
	// that many ids, and no program is started that often within a second.
	minDisorder = 16
	minRapid    = 8
	fastest     = 1 << 21

	// minRacing: a line is not a sequence of one process if its counter runs through half
	// its range in a second, in at least minRacing seconds. It is, if at least one in
	// racingFactor of these counters has an id.
	minRacing    = 3
	racingFactor = 4

	// minTurns is the least number of turns that show a shared value.
	minTurns = 2

	// idleFactor: a line is idle if it has had no id for idleFactor times its mean time
	// between ids.
	idleFactor = 16

	// paceFactor: without a restart, a counter moves from one line to the next at no more
	// than paceFactor times its fastest pace.
	paceFactor = 8

	// minStep is the least clock step in seconds. A decrease by one second is normal: other
	// goroutines may overtake one that has read the clock but not taken its counter.
	minStep = 2

	// certainStep is the least clock step, in seconds, that a single id proves.
	certainStep = 60

	// maxSingles limits the memory for process values that have only one id. Their counters
	// form a sequence if there are more than minSingles ids, each at most maxSingleStep
	// counters and maxSingleWait seconds after the one before, and if chance causes that in
	// less than one of 2^singleBits censuses.
	maxSingles    = 1 << 19
	maxSingleStep = 64
	maxSingleWait = 60 * 60
	minSingles    = 2
	singleBits    = 20

	// The usual number of ids in an hour is the median of the same hour on usualPeriods days
	// before and usualPeriods days after. At least minPeriods of these days must be known.
	usualPeriods = 6
	minPeriods   = 4

	// An import is a time with importFactor times the usual number of ids plus importLeast,
	// measured in ten minutes. If that also happens on minPeriods other days within a year,
	// it is a job.
	importFactor = 10
	importLeast  = 50

	// On a day with a deletion, the share of missing ids is higher than usual by at least
	// deletionShare. Days with less than deletionLeast ids are not judged. Up to
	// maxQuietDays days without a deletion may be within one.
	deletionShare = 0.3
	deletionLeast = 50
	maxQuietDays  = 2

	// minTwinSeconds is the least number of seconds in which two processes use the same
	// counters. A restart within the last two seconds of a process may do that by chance.
	minTwinSeconds = 4

	// maxTurns limits the memory for turns, and maxSuspects the one for examples of process
	// values.
	maxTurns    = 1 << 17
	maxSuspects = 64

	// maxBorrowed is the most seconds in which a process may borrow a process value.
	maxBorrowed = 4096

	// farShare and farFactor: with IntervalAuto, a timeline leaves out one in farShare ids
	// at each end if that makes it farFactor times as short. Otherwise a few wrong clocks
	// would hide the shape of all other ids.
	farShare  = 1000
	farFactor = 4
)

// Limits of a report.
const (
	maxExamples = 6  // examples of a finding
	maxProblems = 10 // problems of a source
)
