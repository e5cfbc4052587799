module github.com/oidkit/oid/objectid

go 1.24.0
