package inspect_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/testenv"
)

// rows are the ids in the tables of TestClients. The first two begin with digits that may be taken
// for a part of an escape.
var rows = []string{"0a22e99088cfc6d8ab5ef0b1", "6a6b02e99088cfc6d8ab5ef0", hex}

// TestClients finds each id once in what the clients of SQL databases print, in all their formats.
func TestClients(t *testing.T) {
	t.Run("psql", func(t *testing.T) {
		psql, url := testenv.Program(t, "psql", "postgresql"), testenv.Postgres(t).URL()
		query := func(args ...string) string {
			return testenv.Run(t, exec.Command(psql, append([]string{url, "-q"}, args...)...))
		}
		query("-c", "CREATE TABLE t (id bytea, ref text)", "-c", "INSERT INTO t SELECT decode(h, 'hex'), h FROM unnest('{"+strings.Join(rows, ",")+"}'::text[]) h")
		for _, column := range []string{"id", "ref"} {
			for _, format := range []string{"", "-x", "-A", "-At", "-A -R ;", "-H", "--csv", "-P format=latex", "-P format=asciidoc", "-P format=troff-ms", "-P border=2 -P linestyle=unicode", "-x -P border=2"} {
				printed(t, "psql "+format+" "+column, query(append(strings.Fields(format), "-c", "SELECT 7 n, "+column+" FROM t")...))
			}
			for _, command := range []string{`\copy (SELECT %s FROM t) TO STDOUT`, `\copy (SELECT %s FROM t) TO STDOUT csv header`, "SELECT jsonb_pretty(jsonb_agg(jsonb_build_object('_id', %s))) FROM t", "SELECT row_to_json(r) FROM (SELECT %s FROM t) r", "SELECT array_agg(%s) FROM t", "SELECT query_to_xml('SELECT %s::text FROM t', true, true, '')"} {
				printed(t, "psql -c "+command, query("-c", fmt.Sprintf(command, column)))
			}
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		client := testenv.MariaDB(t)
		query := func(args ...string) string {
			return testenv.Run(t, exec.Command(client[0], append(client[1:], args...)...))
		}
		query("-e", "CREATE TABLE t (id BINARY(12), ref CHAR(24)); INSERT INTO t VALUES "+each3("(x'%[1]s', '%[1]s')", ","))
		for _, format := range []string{"-t", "-B", "-B -r", "-B -N", "-E", "-H", "-X"} {
			for _, column := range []string{"ref", "HEX(id)", "LOWER(HEX(id))", "JSON_OBJECT('_id', ref)", "JSON_QUOTE(JSON_OBJECT('_id', ref))", "CONCAT('\t', ref)"} {
				printed(t, "mariadb "+format+" "+column, query(append(strings.Fields(format), "-e", "SELECT 7 n, "+column+" x FROM t")...))
			}
			printed(t, "mariadb --binary-as-hex "+format, query(append(strings.Fields(format), "--binary-as-hex", "-e", "SELECT id FROM t")...))
		}
	})
	t.Run("sqlite3", func(t *testing.T) {
		sqlite := testenv.Program(t, "sqlite3", "sqlite3")
		create := "CREATE TABLE t (id BLOB, ref TEXT); INSERT INTO t VALUES " + each3("(x'%[1]s', '%[1]s')", ",") + ";"
		for _, mode := range []string{"box", "table", "column", "markdown", "list", "csv", "tabs", "line", "html", "json", "quote", "insert", "tcl", "ascii"} {
			printed(t, "sqlite3 .mode "+mode, testenv.Run(t, exec.Command(sqlite, "-cmd", ".mode "+mode, ":memory:", create+"SELECT 7 n, ref FROM t")))
			printed(t, "sqlite3 quote .mode "+mode, testenv.Run(t, exec.Command(sqlite, "-cmd", ".mode "+mode, ":memory:", create+"SELECT quote(id) x FROM t")))
		}
		printed(t, "sqlite3 .mode quote", testenv.Run(t, exec.Command(sqlite, "-cmd", ".mode quote", ":memory:", create+"SELECT id FROM t")))
		dump := exec.Command(sqlite, ":memory:", create, "ALTER TABLE t DROP COLUMN ref", ".dump")
		printed(t, "sqlite3 .dump", testenv.Run(t, dump))
	})
}

// each3 returns format with each of the ids in rows.
func each3(format, separator string) string {
	var all []string
	for _, id := range rows {
		all = append(all, fmt.Sprintf(format, id))
	}
	return strings.Join(all, separator)
}

// printed holds that text has each id of rows once.
func printed(t *testing.T, name, text string) {
	t.Helper()
	var got []string
	for f, err := range inspect.FindAll(strings.NewReader(text)) {
		testenv.NoError(t, err)
		got = append(got, strings.ToLower(f.Text))
	}
	if !slices.Equal(got, rows) {
		t.Errorf("%s: %q in %q", name, got, text)
	}
}

// TestProxies finds the ids of requests in the logs of nginx and HAProxy: in the path, in the
// query, in a cookie and in the body, in each way of escaping.
func TestProxies(t *testing.T) {
	testenv.Long(t, "starts nginx and HAProxy")
	nginx, haproxy := testenv.Program(t, "nginx", "nginx-light"), testenv.Program(t, "haproxy", "haproxy")
	folder, port, sink, front := t.TempDir(), testenv.FreePort(t), testenv.FreePort(t), testenv.FreePort(t)
	config := func(name, text string) string {
		path := filepath.Join(folder, name)
		testenv.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	// nginx writes the body only if it passes the request on.
	testenv.Start(t, nginx, "-p", folder, "-e", "stderr", "-c", config("nginx", fmt.Sprintf(`daemon off; master_process off; pid pid; error_log stderr;
events {}
http {
	client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
	log_format default '"$request" "$http_cookie" "$request_body"';
	log_format json escape=json '{"request":"$request","cookie":"$http_cookie","body":"$request_body"}';
	log_format none escape=none '$request $http_cookie $request_body';
	server { listen 127.0.0.1:%d; access_log off; return 204; }
	server { listen 127.0.0.1:%d; location / {
		access_log default default; access_log json json; access_log none none; proxy_pass http://127.0.0.1:%[1]d; } }
}`, sink, port)))
	server := testenv.Start(t, haproxy, "-f", config("haproxy", fmt.Sprintf(`global
	log stdout format raw local0
defaults
	mode http
	log global
	option httplog
	timeout client 9s
	timeout server 9s
	timeout connect 9s
frontend f
	bind 127.0.0.1:%d
	option http-buffer-request
	http-request capture req.hdr(Cookie) len 500
	http-request capture req.body len 500
	default_backend b
backend b
	server s 127.0.0.1:%d
`, front, sink)))
	bodies := []string{"{\"_id\":{\"$oid\":\"" + hex + "\"},\"text\":\"ü\"}", "id=" + hex + "&n=1", "--b\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n" + hex + "\r\n--b--\r\n", "\t" + hex, "\"" + hex + "\""}
	for _, port := range []int{port, front} {
		for _, body := range bodies {
			testenv.Await(t, "proxy", func() error { return post(t.Context(), port, body) })
		}
	}
	logs := map[string]string{"haproxy": ""}
	testenv.Await(t, "log of HAProxy", func() error {
		if logs["haproxy"] = server.Output(); strings.Count(logs["haproxy"], "POST ") < len(bodies) {
			return fmt.Errorf("%d lines", strings.Count(logs["haproxy"], "\n"))
		}
		return nil
	})
	for _, name := range []string{"default", "json", "none"} {
		logs[name] = string(testenv.Must(os.ReadFile(filepath.Join(folder, name)))(t))
	}
	for name, log := range logs {
		n := 0
		for f, err := range inspect.FindAll(strings.NewReader(log)) {
			if n++; err != nil || f.Text != hex {
				t.Errorf("%s: %q, %v", name, f.Text, err)
			}
		}
		if want := 4 * len(bodies); n != want { // in each line: path, query, cookie, body
			t.Errorf("%s: %d ids, want %d:\n%s", name, n, want, log)
		}
	}
}

// post sends a request with ids to a port.
func post(ctx context.Context, port int, body string) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/orders/%s?id=%%22%[2]s%%22", port, hex), strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Cookie", `order="`+hex+`"`)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
