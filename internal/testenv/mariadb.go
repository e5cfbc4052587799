package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// MariaDB starts a MariaDB server without a network and with an empty database called shop, and
// returns the command of the client that connects to it.
func MariaDB(t testing.TB) (client []string) {
	t.Helper()
	Long(t, "starts MariaDB")
	server := Program(t, "mariadbd", "mariadb-server-core mariadb-client-core")
	folder := sharedFolder(t)
	socket := filepath.Join(folder, "socket")
	name, args := unprivileged(t, server, []string{
		"--no-defaults", "--datadir=" + folder, "--tmpdir=" + folder, "--socket=" + socket, "--pid-file=" + filepath.Join(folder, "pid"),
		"--skip-networking", "--skip-grant-tables", "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M",
	})
	Start(t, name, args...)
	client = []string{"mariadb", "--no-defaults", "--socket=" + socket}
	Await(t, "answer of MariaDB", func() error {
		return exec.Command(client[0], append(client[1:], "-e", "CREATE DATABASE IF NOT EXISTS shop; CREATE DATABASE IF NOT EXISTS mysql")...).Run()
	})
	// The tables of the system, which functions need.
	tables, err := os.Open("/usr/share/mysql/mysql_system_tables.sql")
	if err != nil {
		Missing(t, "MariaDB has no mysql_system_tables.sql: apt-get install mariadb-server-core")
	}
	defer tables.Close()
	create := exec.Command(client[0], append(client[1:], "mysql")...)
	create.Stdin = tables
	Run(t, create)
	return append(client, "shop")
}
