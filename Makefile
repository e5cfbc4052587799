# The pinned tools of "make check".
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     = mvdan.cc/gofumpt@v0.12.0

# How many seconds "make fuzz" gives to each fuzz test.
FUZZTIME = 30s

.PHONY: help
help:
	@echo "make test    install what the tests need, then run them all"
	@echo "make check   formatting, vet, static analysis, tidiness, directions of imports"
	@echo "make bench   measure against the peers and write docs/benchmarks.md"
	@echo "make soak    the long tests (SOAK=30m)"
	@echo "make fuzz    run every fuzz test for $(FUZZTIME) (FUZZTIME=...)"

.PHONY: test
test:
	.ci/setup
	CGO_ENABLED=1 OID_REQUIRE_ALL=1 go test -race -timeout 30m ./...

# The modules beside the main one, but for one that only names a tool and one that
# lacks what its test generates. bench/lock cannot be tidied, see there.
MODULES = $(filter-out bench/census/mongotools internal/testenv/generated,$(patsubst ./%/go.mod,%,$(shell find . -mindepth 2 -name go.mod)))

# How long "make soak" lets clients fight for a lock.
SOAK = 30m

.PHONY: soak
soak:
	.ci/setup
	OID_REQUIRE_ALL=1 OID_SOAK=$(SOAK) go test -race -timeout 0 -v -run Linear ./lock/redislock
	OID_REQUIRE_ALL=1 go test -race -timeout 0 -count 20 -run Faults ./lock/redislock
	OID_REQUIRE_ALL=1 OID_SOAK=1 go test -timeout 90m -v -run '^(TestLoad|TestEndlessUpload)$$' ./server

.PHONY: check
check:
	@diff=$$(go run $(GOFUMPT) -d .) && test -z "$$diff" || { echo "$$diff"; echo "make check: run gofumpt -w ."; exit 1; }
	go vet ./...
	go fix -diff ./...
	go run $(STATICCHECK) -checks all ./...
	go mod tidy -diff
	go test ./internal/imports
	@for module in $(MODULES); do \
		echo "$$module: go vet, go mod tidy -diff"; \
		(cd $$module && go vet -tags ferretdb_no_postgresql ./... && { test $$module = bench/lock || go mod tidy -diff; }) || exit 1; \
	done

# Every measurement, or one of them: "make bench-ids".
.PHONY: bench bench-ids bench-store bench-registry bench-lock bench-census bench-serve
bench: bench-ids bench-store bench-registry bench-lock bench-census bench-serve
bench-ids bench-census bench-serve: bench-%:
	cd bench && go run ./$* -o ../docs/benchmarks.md
bench-store bench-registry: bench-%:
	cd bench/$* && go run . -o ../../docs/benchmarks.md
bench-lock:
	cd bench/lock && go test -run TestSpeed -timeout 60m -args -o ../../docs/benchmarks.md
	cd bench/lock && go test -run TestFaults -timeout 60m -args -o ../../docs/lock-faults.md

# One fuzz test at a time is what go test can do.
.PHONY: fuzz
fuzz:
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$$file"); do \
			echo "$$(dirname "$$file") $$name"; \
			(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done
