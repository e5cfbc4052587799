module github.com/oidkit/oid/examples/verify

go 1.26.0

replace (
	github.com/oidkit/oid => ../..
	github.com/oidkit/oid/objectid => ../../objectid
)

require (
	github.com/globalsign/mgo v0.0.0-20181015135952-eeefdecb41b8
	github.com/oidkit/oid v0.0.0
	github.com/oidkit/oid/objectid v0.0.0
	github.com/rs/xid v1.6.0
	go.mongodb.org/mongo-driver v1.17.10
	go.mongodb.org/mongo-driver/v2 v2.9.3
)

require gopkg.in/check.v1 v1.0.0-20201130134442-10cb98267c6c // indirect
