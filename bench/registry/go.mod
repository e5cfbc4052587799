module github.com/oidkit/oid/bench/registry

go 1.26.0

require (
	github.com/oidkit/oid v0.0.0
	github.com/oidkit/oid/bench v0.0.0
	go.mongodb.org/mongo-driver/v2 v2.9.3
)

require (
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/prometheus/procfs v0.23.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/sys v0.49.0 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
)

replace (
	github.com/oidkit/oid => ../..
	github.com/oidkit/oid/bench => ..
)
