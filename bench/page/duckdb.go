package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// DuckDBVersion is that of its package for Node.js.
const DuckDBVersion = "1.5.6-r.1"

// query is a program for Node.js in which DuckDB answers one.
const query = `
const { DuckDBInstance } = require("@duckdb/node-api");
(async () => {
	const connection = await (await DuckDBInstance.create(":memory:")).connect();
	const result = await connection.runAndReadAll(process.argv[2]);
	console.log(result.getRows()[0][0].toString());
})();
`

// InstallDuckDB puts DuckDB into dir with npm, and returns the command line in which it
// answers a query and prints the first column of the first row.
func InstallDuckDB(dir string) (command func(query string) []string, err error) {
	if out, err := exec.Command("npm", "install", "--prefix", dir, "@duckdb/node-api@"+DuckDBVersion).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("install DuckDB: %w\n%s", err, out)
	}
	program := filepath.Join(dir, "query.cjs")
	return func(query string) []string { return []string{"node", program, query} }, os.WriteFile(program, []byte(query), 0o644)
}
