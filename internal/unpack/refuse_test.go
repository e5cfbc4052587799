package unpack_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/internal/unpack"
)

// The command in the error for a format that is not read writes the ids of a file that the
// real program wrote.
func TestRefused(t *testing.T) {
	const line = "an order 507f1f77bcf86cd799439011 and text\n"
	for name, program := range map[string]string{
		"7z": "bsdtar --format 7zip -cf F log", "cpio": "bsdtar --format cpio -cf F log", "compress": "compress -f -c log > F", "lzip": "lzip -c log > F",
		"lzma": "xz --format=lzma -c log > F", "text in UTF-16": "iconv -t UTF-16 log > F", "big-endian": "(printf '\\xfe\\xff'; iconv -t UTF-16BE log) > F",
		"encrypted": "zip -q -P secret F.zip log && mv F.zip F", "compressed with method 12 of zip": "zip -q -Z bzip2 F.zip log && mv F.zip F", "not text": "(head -c 70000 /dev/urandom; echo; cat log) > F",
		"data of mongod": "wt -h . create table:c && mv c.wt F", "journal": "mkdir journal; wt -h . -C 'create,log=(enabled=true,path=journal,file_max=100KB)' create table:c && mv journal/WiredTigerLog.* F",
		"a journal of systemd": `printf '__REALTIME_TIMESTAMP=1\n__MONOTONIC_TIMESTAMP=1\n_BOOT_ID=%032d\nMESSAGE=%s\n\n' 1 "$(head -1 log)" | /lib/systemd/systemd-journal-remote -o j.journal - && mv j.journal F`,
		"a dump of Redis":      "redis-server --port 0 --unixsocket s --dbfilename F >&2 & until redis-cli -s s ping >&2; do sleep .1; done; redis-cli -s s set key \"$(head -1 log)\" >&2; redis-cli -s s shutdown save",
		"an Excel file":        "mkdir xl; touch xl/workbook.xml; zip -q F.zip xl/workbook.xml && mv F.zip F",
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "log"), []byte(strings.Repeat(line, 50)), 0o644); err != nil {
			t.Fatal(err)
		}
		data := shell(t, folder, program+"; cat F")
		_, wrong := walkText(data, unpack.Options{Name: "F", Then: "oid census"})
		if !errors.Is(wrong, unpack.ErrFormat) {
			t.Errorf("%s: %v", name, wrong)
			continue
		}
		text := wrong.Error()
		_, command, _ := strings.Cut(text, "; type: ")
		command, then, _ := strings.Cut(command, " | ")
		if !strings.Contains(text, map[string]string{"cpio": "a cpio archive", "compress": "compressed by compress", "big-endian": "text in UTF-16", "journal": "data of mongod"}[name]) && !strings.Contains(text, "this: it is "+name) ||
			!strings.HasPrefix(then, "oid census") || strings.Contains(command, "FILE") {
			t.Errorf("%s: %s", name, text)
		}
		if !strings.Contains("mongodump xlsx2csv redis-cli", strings.Fields(command)[0]) {
			command = strings.Replace(command, "unzip", "unzip -P secret", 1)
			if strings.Contains(command, "bsdtar") {
				command += " | tar xO"
			}
			if out := shell(t, folder, command); !bytes.Contains(out, []byte(line[:40])) {
				t.Errorf("%s: %s writes %.100q", name, command, out)
			}
		}
	}
	for name, want := range map[string]string{
		"o.parquet": `read_table('o.parquet', `, "it's": "read_table('FILE', ", "standard input": "read_table('FILE', ", "": "read_table('FILE', ", "an order": `read_table('an order', `,
	} {
		if _, err := walkText([]byte("PAR1...."), unpack.Options{Name: name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// A file of COPY in binary format, which psql wrote, is named with what to do.
func TestRefusedCopy(t *testing.T) {
	psql := testenv.Program(t, "psql", "postgresql")
	data := testenv.Run(t, exec.Command(psql, testenv.Postgres(t).URL(), "-c", `\copy (SELECT '\x507f1f77bcf86cd799439011'::bytea) TO STDOUT (FORMAT binary)`))
	if _, err := walkText([]byte(data), unpack.Options{}); err == nil || !strings.HasSuffix(err.Error(), "PostgreSQL's binary format; repeat COPY with FORMAT csv") {
		t.Error(err)
	}
}

// TestRefusedTables runs the commands in the errors for files of pyarrow and fastavro. Their ids are
// text, bytes, and objects with the text, as Spark writes them.
func TestRefusedTables(t *testing.T) {
	t.Setenv("PYTHONPATH", testenv.PythonPackage(t, "pyarrow", "26.0.1")+":"+testenv.PythonPackage(t, "fastavro", "1.13.1"))
	const (
		hex   = "507f1f77bcf86cd799439011"
		table = `import pyarrow as pa; t = pa.table({"_id": pa.array([%[1]s], %[2]s)}); `
	)
	write := map[string]string{
		"Parquet": table + `import pyarrow.parquet as m; m.write_table(t, "%[4]s")`, "ORC": table + `import pyarrow.orc as m; m.write_table(t, "%[4]s")`, "Arrow": table + `import pyarrow.feather as m; m.write_feather(t, "%[4]s")`,
		"an Arrow stream": table + `w = pa.ipc.new_stream("%[4]s", t.schema); w.write_table(t); w.close()`,
		"Avro":            `import fastavro as m; m.writer(open("%[4]s", "wb"), {"type": "record", "name": "d", "fields": [{"name": "_id", "type": %[3]s}]}, [{"_id": %[1]s}])`,
	}
	folder, wants, script := t.TempDir(), map[string]string{}, ""
	for format, write := range write {
		for i, test := range []struct{ value, arrow, avro, want string }{
			{`"` + hex + `"`, "pa.string()", `"string"`, hex + "\n"},
			{`bytes.fromhex("` + hex + `")`, "pa.binary()", `"bytes"`, hex + "\n"},
			{`{"oid": "` + hex + `"}`, "None", `{"type": "record", "name": "id", "fields": [{"name": "oid", "type": "string"}]}`, `{"_id": {"oid": "` + hex + `"}}` + "\n"},
			{`["` + hex + `"]`, "None", `{"type": "array", "items": "string"}`, `{"_id": ["` + hex + `"]}` + "\n"},
			{`bytes.fromhex("` + hex + `")`, "pa.binary(12)", `{"type": "fixed", "name": "id", "size": 12}`, hex + "\n"},
		} {
			if format == "ORC" && test.arrow == "pa.binary(12)" {
				continue // ORC has no such type
			}
			name := fmt.Sprint(format, i)
			wants[name] = test.want
			script += fmt.Sprintf(write, test.value, test.arrow, test.avro, name) + "\n"
		}
	}
	shell(t, folder, "python3 -c '"+script+"'")
	for name, want := range wants {
		data := testenv.Must(os.ReadFile(filepath.Join(folder, name)))(t)
		_, wrong := walkText(data, unpack.Options{Name: name, Then: "oid census"})
		_, command, ok := strings.Cut(fmt.Sprint(wrong), "this: it is "+strings.TrimRight(name, "01234")+"; type: ")
		command, _, _ = strings.Cut(command, " | ")
		if out := shell(t, folder, command); !ok || string(out) != want {
			t.Errorf("%s: %v: %q, want %q", name, wrong, out, want)
		}
	}
}

// The command in the error for an encrypted file writes its text once the secret is given.
func TestEncrypted(t *testing.T) {
	const (
		line    = "an order 507f1f77bcf86cd799439011 and text"
		gpg     = "export GNUPGHOME=$PWD/g; mkdir -p -m 700 g; trap 'gpgconf --kill gpg-agent' EXIT; gpg --batch --pinentry-mode loopback --passphrase secret"
		openssl = "openssl enc -aes-256-cbc -pbkdf2 -pass pass:secret"
		toKey   = " --quick-gen-key me %s; " + gpg + " --trust-model always -r me -o F -e log"
		age     = "age-keygen -o KEY; age -r $(age-keygen -y KEY) -o F"
	)
	for _, test := range [][2]string{
		{gpg + " -o F -c log", "encrypted by gpg"},
		{gpg + " --cipher-algo AES -o F -c log", "encrypted by gpg"},
		{gpg + " -a -o F -c log", "encrypted by gpg"},
		{gpg + strings.Replace(toKey, "%s", "rsa2048 encrypt", 1), "encrypted by gpg"},
		{"{ printf '\\x85\\x02\\x0c\\x03'; head -c 9000 /dev/urandom; } > F", "encrypted by gpg"}, // for a key of 4,096 bits, which takes long to generate
		{gpg + strings.Replace(toKey, "%s", "future-default", 1), "encrypted by gpg"},
		{age + " log", "encrypted by age"},
		{age + " -a log", "encrypted by age"},
		{openssl + " -in log -out F", "encrypted by openssl"},
		{openssl + " -a -in log -out F", "encrypted by openssl"},
		{"{ printf PGRSUS01; head -c 9000 /dev/urandom; } > F", "encrypted by Databasus"},
		{"{ printf '\\x1f\\x8b\\x08\\xe3'; gzip -c log | tail -c +5; } > F", "encrypted or damaged: it begins like gzip"},
		{"{ printf '\\x1f\\x8b\\x05\\xa2'; head -c 9000 /dev/urandom; } > F", "encrypted or damaged: it begins like gzip"},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "log"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		_, wrong := walkText(shell(t, folder, test[0]+"; cat F"), unpack.Options{Name: "F", Then: "oid census"})
		if !errors.Is(wrong, unpack.ErrFormat) || !strings.Contains(wrong.Error(), "this: it is "+test[1]) {
			t.Errorf("%s: %v", test[0], wrong)
			continue
		}
		_, command, isCommand := strings.Cut(wrong.Error(), "; type: ")
		command, _, _ = strings.Cut(command, " | ")
		command = strings.NewReplacer("gpg", gpg, "-pbkdf2", "-pbkdf2 -pass pass:secret").Replace(command)
		if !isCommand || strings.Contains(test[0], "urandom") {
			continue
		}
		if out := string(shell(t, folder, command)); out != line {
			t.Errorf("%s: %s writes %q", test[0], command, out)
		}
	}
}

// A dump of pg_dump -Ft is a tar whose members are not read one by one; other tars may have a file
// with the same name.
func TestRefusedTar(t *testing.T) {
	folder := t.TempDir()
	packed := shell(t, folder, "printf 'PGDMP\\1\\16' > toc.dat; echo 507f1f77bcf86cd799439011 > 3342.dat; tar cz toc.dat 3342.dat")
	contents, wrong := walk(bytes.NewReader(packed), unpack.Options{Name: "d.tar.gz", Then: "oid census"})
	if len(contents) > 0 || !strings.HasSuffix(wrong[""], "a dump of pg_dump; type: pg_restore -f - d.tar | oid census --grep") {
		t.Errorf("%q, %q", contents, wrong)
	}
	check(t, "another tar", bytes.NewReader(shell(t, folder, "echo contents > toc.dat; tar c toc.dat")), map[string]string{"toc.dat": "contents\n"})
}

// A dump of pg_dump may be a folder, which pg_restore reads, not its file toc.dat.
func TestRefusedFolder(t *testing.T) {
	o := unpack.Options{Name: "dumps/a shop/toc.dat", Then: "oid census"}
	if err := o.Refuse([]byte("PGDMP\x01\x0e")); err == nil || !strings.HasSuffix(err.Error(), "; type: pg_restore -f - 'dumps/a shop' | oid census --grep") {
		t.Error(err)
	}
}

// walkText returns the content of the only file in data, refusing what is not text, as census
// does.
func walkText(data []byte, o unpack.Options) (text []byte, wrong error) {
	_ = unpack.Walk(bytes.NewReader(data), o, func(_ string, c *unpack.Content, err error) error {
		if wrong = err; c != nil {
			defer c.Close()
			wrong = o.Refuse(c.Head)
		}
		return nil
	})
	return nil, wrong
}
