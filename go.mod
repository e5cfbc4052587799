module github.com/oidkit/oid

go 1.26.0

require (
	github.com/spf13/cobra v1.10.2
	github.com/xhit/go-str2duration/v2 v2.2.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)
