package failure

// Rows are the rows of all systems.
var Rows = [][]Row{redisRows, postgresRows, mongoRows, sqliteRows, fileRows}
