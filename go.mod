module github.com/oidkit/oid

go 1.26

require (
	github.com/gofrs/flock v0.13.1
	github.com/spf13/cobra v1.10.2
)

require golang.org/x/sys v0.47.0 // indirect

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/redis/rueidis v1.0.79
	github.com/spf13/pflag v1.0.9 // indirect
)
