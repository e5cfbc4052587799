module github.com/oidkit/oid

go 1.26
