# The pinned tools of "make check".
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     = mvdan.cc/gofumpt@v0.12.0
ACTIONLINT  = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# Runs the tests and lists the skipped and the failed ones at the end.
GOTESTSUM = gotest.tools/gotestsum@v1.13.0

# The mutation tester.
GREMLINS = github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

# The systems beside this one for which "make check" compiles and vets everything.
SYSTEMS = linux/386 linux/arm64 windows/amd64 darwin/arm64

# The packages of both modules that users import. From here, Go names those of the second
# by their import path alone.
ALL = ./... github.com/oidkit/oid/objectid/...

# The version that "make release" builds; that of the tag of the commit, if there is one.
VERSION =

.PHONY: release test-release generated
release:
	cd release && go run . -version "$(VERSION)" -o ../dist
test-release: test-windows
	.ci/setup release
	cd release && OID_REQUIRE_ALL=1 go test -v -timeout 30m ./...
	cd internal/interop/frameworks && OID_REQUIRE_ALL=1 go test -timeout 30m -run '^TestGenerators$$' ./...

# Tests of programs for Windows, under Wine; .ci/windows lists those that cannot run there.
.PHONY: test-windows
test-windows:
	.ci/setup windows
	.ci/windows wine

# Writes what comes from the program.
generated:
	OID_WRITE_GENERATED=1 go test -count 1 -run '^Test(APIPage|MetricsPage|TestingPage|Licences|Picture|TerminalPicture|JavaScriptCommonJS|JavaScriptCompat)$$' ./cmd/oid ./internal/report ./internal/interop

# The pictures of the pages in the documents, which show the time at which they were made; the
# icons of the static page, and the picture beside a link to it.
.PHONY: picture
picture:
	OID_WRITE_GENERATED=1 go test -count 1 -run '^Test(PagePicture|Pictures)$$' ./internal/page ./site/build
	mkdir -p dist/pictures
	OID_SCREENSHOTS=$(CURDIR)/dist/pictures OID_WRITE_GENERATED=1 go test -count 1 -run '^TestBothPages$$' ./server

# What examples/verify says of the libraries of other languages.
.PHONY: drivers
drivers:
	.ci/setup drivers
	cd examples/verify && go run ./drivers -o ../../docs/drivers.md

# The folder that "make site" builds, for any web server.
SITE = dist/site

# Where the static page is published: addresses in what it shows beside a link must be absolute.
SITEURL = https://oidkit.github.io/oid/

.PHONY: site pages
site:
	go run ./site/build -o "$(SITE)"

# The static page with the documents beside it, as it is published.
pages: SITE = dist/pages
pages:
	go run ./site/build -o "$(SITE)" -docs -url "$(SITEURL)"

# How many seconds "make fuzz" gives to each fuzz test.
FUZZTIME = 30s

.PHONY: help
help:
	@echo "make quick   the tests that need no server but redis-server, without the long ones"
	@echo "make test    install what the tests need, then run them all"
	@echo "make steady  every test ten times under conditions that it must not notice (PKG=./lock ROUNDS=50 RUN=TestLease)"
	@echo "make check   formatting, vet, static analysis, tidiness, directions of imports"
	@echo "make mutants break the code of one package in many small ways and list what no test notices (PKG=./census)"
	@echo "make release build programs and packages into dist (VERSION=0.1.0)"
	@echo "make test-release  build packages, install, upgrade and remove them, and look for their faults"
	@echo "make test-windows  tests of programs for Windows, under Wine"
	@echo "make test-versions the lock on other versions of Redis and on Valkey, the stores on a newer PostgreSQL"
	@echo "make test-stores   the tests of the stores and what is built on them (OID_TEST_MONGODB=URL OID_TEST_POSTGRES=URL)"
	@echo "make site    build the static page, which needs no server, into $(SITE)"
	@echo "make pages   the same with the documents, into dist/pages"
	@echo "make generated     write the pages and pictures that come from the program, and LICENSES-THIRD-PARTY"
	@echo "make drivers judge the ObjectId libraries of other languages and write docs/drivers.md"
	@echo "make bench   measure against the peers and write docs/benchmarks.md"
	@echo "make soak    the long tests (SOAK=30m)"
	@echo "make fuzz    run every fuzz test for $(FUZZTIME) (FUZZTIME=...)"

# Tests that take longer or start other servers skip themselves, see testenv.Long. Those
# that are left wait more than they work, as in "make test" below. "make check" vets.
.PHONY: quick
quick:
	go test -short -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 2)) ./server ./cmd/oid ./registry $(ALL)

# Hours for all packages. What it does is in .ci/steady.
.PHONY: steady
steady:
	.ci/steady

# Prints the folder and the name of each test that calls testenv.WithoutRace or
# testenv.Seeds: the race detector makes it too long, it skips itself there or does less.
WITHOUT_RACE = awk '/^func / {sub(/\(.*/, ""); test = $$2} /[wW]ithoutRace\(t\)|testenv\.Seeds\(/ {sub("[^/]*$$", "", FILENAME); print FILENAME, test}' $$(find . -name '*_test.go')

# What the tests fetch or build once comes first, since it shows what it does. Then come
# the tests with the race detector. Most wait more than they work: one package more than
# there are processors is tested at a time, those that take longest begin, and three tests
# of a package that say so run at the same time. Then come those of WITHOUT_RACE without
# it, beside the modules. "make check" vets.
# A program under the race detector sleeps for a second before it ends, unless told
# otherwise, and the tests start thousands.
.PHONY: test test-race test-plain test-plain-main test-plain-modules
test:
	.ci/setup
	OID_REQUIRE_ALL=1 go test -v -run '^TestFetch$$' ./internal/testenv
	$(MAKE) test-race
	$(MAKE) test-plain
	$(MAKE) -j 2 test-versions

test-race: export GORACE = atexit_sleep_ms=10
test-race:
	CGO_ENABLED=1 OID_REQUIRE_ALL=1 go run $(GOTESTSUM) --format pkgname -- -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -parallel 3 -race -timeout 30m ./server ./cmd/oid ./lock/redislock ./registry ./store/mongostore ./store/pgstore $(ALL)

test-plain:
	$(MAKE) -j 2 test-plain-main test-plain-modules
	cd examples/verify && OID_REQUIRE_ALL=1 go test ./...

test-plain-main: TESTS = $(shell $(WITHOUT_RACE) | cut -d ' ' -f 2 | sort -u | paste -s -d '|')
test-plain-main: PACKAGES = $(patsubst ./objectid%,github.com/oidkit/oid/objectid%,$(shell $(WITHOUT_RACE) | cut -d ' ' -f 1 | sort -u))
test-plain-main:
	OID_REQUIRE_ALL=1 go test -vet=off -p 2 -timeout 10m -run '^($(TESTS))$$' ./server $(PACKAGES)

test-plain-modules:
	cd objectid && GOEXPERIMENT=jsonv2 go test ./...
	cd objectid && GOOS=js GOARCH=wasm go test -short -vet=off -exec "$$(go env GOROOT)/lib/wasm/go_js_wasm_exec" ./...
	cd internal/interop/others && go test ./...
	cd examples/otel && go test ./...
	cd internal/interop/objectstorage && go test ./...
	cd internal/interop/frameworks && OID_REQUIRE_ALL=1 go test -skip '^TestGenerators$$' ./...

# The lock on other versions of Redis than the installed one, and on Valkey; and all that uses
# PostgreSQL on a newer one. The servers are fetched once.
REDIS = redis-6.2 redis-8.2 valkey-9.1
.PHONY: test-versions test-postgresql $(REDIS:%=test-%)
test-versions: $(REDIS:%=test-%) test-postgresql
$(REDIS:%=test-%): test-%:
	OID_TEST_REDIS=$* OID_REQUIRE_ALL=1 go test -vet=off -timeout 20m ./lock/redislock
test-postgresql:
	OID_TEST_POSTGRES_PROGRAMS=maven OID_REQUIRE_ALL=1 go test -vet=off -p 1 -timeout 20m ./store/pgstore ./lock/storelock ./registry

# The tests of the stores and of all that is built on them. With OID_TEST_MONGODB or
# OID_TEST_POSTGRES in the environment they run on the servers of these URLs.
.PHONY: test-stores
test-stores:
	.ci/setup
	OID_REQUIRE_ALL=1 go test -p 1 -timeout 60m ./store/... ./lock/storelock ./registry/... ./server/... ./cmd/oid ./internal/interop

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
	OID_REQUIRE_ALL=1 OID_SOAK=1m go test -race -timeout 0 ./store/pgstore ./lock/storelock
	OID_REQUIRE_ALL=1 OID_SOAK=1 go test -timeout 90m -v -run '^(TestLoad|TestEndlessUpload|TestSoak)$$' ./server
	cd bench && go test -timeout 0 -v ./registry -run '^TestSimulation$$' -processes 20000 -agents 20 -time 40m
	OID_SIMULATIONS=2000 go test -timeout 0 -v -run '^Test(Healthy|Faulty)Processes|^TestAgainstASlowJudge' ./census
	OID_SIMULATIONS=100 go test -timeout 0 -v -run '^TestKinds' ./census

.PHONY: check
check:
	@diff=$$(go run $(GOFUMPT) -d .) && test -z "$$diff" || { echo "$$diff"; echo "make check: run gofumpt -w ."; exit 1; }
	go vet $(ALL)
	@for system in $(SYSTEMS); do \
		echo "$$system: go vet"; \
		CGO_ENABLED=0 GOOS=$${system%/*} GOARCH=$${system#*/} go vet $(ALL) || exit 1; \
	done
	go fix -diff $(ALL)
	go run $(STATICCHECK) -checks all $(ALL)
	go run $(ACTIONLINT)
	@! grep -rn 'uses: [^.]' .github/workflows | grep -vE '@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$$' || { echo "make check: name the commit of an action, and its version in a comment"; exit 1; }
	go mod tidy -diff
	go test ./internal/imports
	@for module in $(MODULES); do \
		echo "$$module: go vet, go mod tidy -diff"; \
		(cd $$module && go vet -tags ferretdb_no_postgresql ./... && { test $$module = bench/lock || go mod tidy -diff; }) || exit 1; \
	done

# A mutation that "lived" was noticed by no test; one "not covered" is in code that no
# test of the package runs. Each worker has a copy of the module and runs all tests of
# the package for each mutation.
.PHONY: mutants
mutants: PKG = ./internal/timerange
mutants:
	.ci/setup
	module=$$(go -C $(PKG) list -m -f '{{.Dir}}') && package=$$(realpath --relative-to "$$module" $(PKG)) && cd "$$module" && \
	OID_REQUIRE_ALL=1 go run $(GREMLINS) unleash --workers 1 --timeout-coefficient 10 ./$$package | grep -vE ' KILLED | NOT VIABLE '

# Every measurement, or one of them: "make bench-ids".
.PHONY: bench bench-ids bench-store bench-registry bench-lock bench-census bench-serve
bench: bench-ids bench-store bench-registry bench-lock bench-census bench-serve
	cd bench && go run ./changes
bench-ids bench-store bench-registry bench-census bench-serve: bench-%:
	cd bench && go run ./$* -o ../docs/benchmarks.md
bench-lock:
	cd bench/lock && go test -run "TestSpeed|TestStart" -timeout 60m -args -o ../../docs/benchmarks.md
	cd bench/lock && go test -run "TestFaults|TestEpisodes" -timeout 90m -parallel 8 -args -o ../../docs/lock-faults.md

# One fuzz test at a time is what go test can do.
.PHONY: fuzz
fuzz:
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$$file"); do \
			echo "$$(dirname "$$file") $$name"; \
			(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done
