// Package lock measures oid's lock in Redis beside bsm/redislock, redsync and
// rueidislock: how fast they are, and what they make of faults; and how oid's lock in
// PostgreSQL behaves under faults. It needs redis-server, redis-cli and PostgreSQL.
//
//	go test -run "TestFaults|TestEpisodes" -timeout 90m -parallel 8 -args -o ../../docs/lock-faults.md
//	go test -run "Test(Speed|Start)" -timeout 30m -args -o ../../docs/benchmarks.md
//
// It is a module of its own, and its go.mod is not tidied: "go mod tidy" would
// look for what the tests of redsync need, in versions that cannot be had
// everywhere. "go get" and "go test" do without.
package lock
