package source_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
)

// TestDumpOfMariaDB reads dumps of a table with ids as bytes and a table with ids as text. The
// bytes are found only with --hex-blob, and a dump without it is not taken for a whole one.
func TestDumpOfMariaDB(t *testing.T) {
	client := testenv.MariaDB(t)
	dump := testenv.Program(t, "mariadb-dump", "mariadb-client")
	testenv.Run(t, exec.Command(client[0], append(client[1:], "-e", `
		CREATE TABLE bytes (id BINARY(12)); CREATE TABLE texts (id CHAR(24), name TEXT CHARACTER SET utf8mb4);
		INSERT INTO bytes SELECT UNHEX(CONCAT('6592008029c8c3e4dc', LPAD(HEX(seq), 6, '0'))) FROM seq_1_to_40000;
		INSERT INTO texts SELECT CONCAT('6592008129c8c3e4dc', LPAD(HEX(seq), 6, '0')), REPEAT('订单', 9) FROM seq_1_to_40000`)...))
	for _, test := range []struct {
		args   string
		ids    int64
		broken bool
	}{
		{"--hex-blob shop", 80000, false},
		{"shop texts", 40000, false},
		{"shop", 40000, true},
		{"--skip-extended-insert shop bytes", 0, true},
		{"--xml shop texts bytes", 40000, true},
		{"--xml --hex-blob shop", 80000, false},
	} {
		args := append(client[1:len(client)-1:len(client)-1], "--default-character-set=utf8mb4")
		text := testenv.Run(t, exec.Command(dump, append(args, strings.Fields(test.args)...)...))
		r, err := read(t, strings.NewReader(text), &census.Options{Format: census.FormatGrep})
		if err != nil || r.IDs != test.ids || r.Broken() != test.broken {
			t.Errorf("%s: %d ids, broken %v, %v, want %d, %v", test.args, r.IDs, r.Broken(), err, test.ids, test.broken)
			continue
		}
		if test.broken && !strings.Contains(r.Sources[0].Problems[0].Error, "repeat mysqldump with --hex-blob") {
			t.Errorf("%s: %v", test.args, r.Sources[0].Problems)
		}
	}
	// MySQL's program writes another name, all rows on one line, and _binary before bytes.
	const mysql = "-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\nINSERT INTO `orders` VALUES "
	for text, broken := range map[string]bool{
		strings.Repeat("(_binary 'e\x92\\0\x80)\xc8\xc3\xe4\xdc\x92\xff'),", 2): true, strings.Repeat("('订单'),", 200000): false,
	} {
		r, err := read(t, strings.NewReader(mysql+text), &census.Options{Format: census.FormatGrep})
		if err != nil || r.Broken() != broken {
			t.Errorf("MySQL: broken %v, %v, want %v", r.Broken(), err, broken)
		}
	}
}
