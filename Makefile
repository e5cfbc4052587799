# The pinned tools of "make check".
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     = mvdan.cc/gofumpt@v0.12.0

.PHONY: test check
test:
	OID_REQUIRE_ALL=1 go test -race ./...

check:
	@diff=$$(go run $(GOFUMPT) -d .) && test -z "$$diff" || { echo "$$diff"; exit 1; }
	go vet ./...
	go fix -diff ./...
	go run $(STATICCHECK) -checks all ./...
	go mod tidy -diff
