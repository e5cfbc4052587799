module github.com/oidkit/oid/bench

go 1.26.0

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/google/uuid v1.6.0
	github.com/oidkit/oid v0.0.0
	github.com/oklog/ulid/v2 v2.1.2
	github.com/rs/xid v1.6.0
	github.com/segmentio/ksuid v1.0.4
	go.mongodb.org/mongo-driver/v2 v2.9.3
)

replace github.com/oidkit/oid => ../
