// The module of mongodump, mongoexport and bsondump, at a version that module
// proxies serve. It is a module of its own, not tidied, since its tests ask for
// more than that; "go run ./census" builds bsondump from it.
module github.com/oidkit/oid/bench/census/mongotools

go 1.26

require github.com/mongodb/mongo-tools v0.0.0-20240723193119-837c2bc263f4
