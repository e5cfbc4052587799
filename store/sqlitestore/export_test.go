package sqlitestore

import "github.com/oidkit/oid/store"

// PageQuery is what Find asks SQLite, for tests of its plan.
func PageQuery(collection string, q store.Query, limit int) (string, []any) {
	return pageQuery(collection, q, "1", nil, limit)
}
