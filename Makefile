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
	@echo "make fuzz    run every fuzz test for $(FUZZTIME) (FUZZTIME=...)"

.PHONY: test
test:
	.ci/setup
	CGO_ENABLED=1 OID_REQUIRE_ALL=1 go test -race -timeout 30m ./...

.PHONY: check
check:
	@diff=$$(go run $(GOFUMPT) -d .) && test -z "$$diff" || { echo "$$diff"; echo "make check: run gofumpt -w ."; exit 1; }
	go vet ./...
	go fix -diff ./...
	go run $(STATICCHECK) -checks all ./...
	go mod tidy -diff
	go test ./internal/imports

.PHONY: bench
bench:
	cd bench && go run ./ids -o ../docs/benchmarks.md

# One fuzz test at a time is what go test can do.
.PHONY: fuzz
fuzz:
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$$file"); do \
			echo "$$(dirname "$$file") $$name"; \
			(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done
