package unpack

import (
	"fmt"
	"strings"

	"github.com/oidkit/oid/internal/phrase"
)

// binary is a format that is neither text nor unpacked here.
type binary struct {
	name    string
	magic   string // its first bytes; a question mark stands for any byte
	command string // writes the ids of FILE as text; empty if no command does
	grep    bool   // among other text
}

var binaries = []binary{
	{name: "Parquet", magic: "PAR1", command: arrow("parquet")},
	{name: "Avro", magic: "Obj\x01", command: python("fastavro", "(r['_id'] for r in m.reader(open('FILE', 'rb')))")},
	{name: "ORC", magic: "ORC", command: arrow("orc")},
	{name: "Arrow", magic: "ARROW1\x00", command: arrow("feather")},
	{name: "an Arrow stream", magic: "\xff\xff\xff\xff???\x00\x10\x00\x00\x00", command: python("pyarrow.ipc", "m.open_stream(open('FILE', 'rb')).read_all()['_id'].to_pylist()")},
	{name: "an Excel file of before 2007", magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", command: "xls2csv FILE"},
	{name: "7z", magic: "7z\xbc\xaf\x27\x1c", command: bsdtar},
	{name: "rar", magic: "Rar!\x1a\x07", command: bsdtar},
	{name: "compressed by compress", magic: "\x1f\x9d", command: "zcat FILE"},
	{name: "lzip", magic: "LZIP", command: "lzip -dc FILE"},
	{name: "lzma", magic: "\x5d\x00\x00??\xff\xff\xff\xff\xff\xff\xff\xff", command: "xz -dc FILE"},
	{name: "a cpio archive", magic: "0707", command: bsdtar},
	{name: "a dump of pg_dump", magic: pgDump, command: "pg_restore -f - FILE", grep: true},
	{name: "PDF", magic: "%PDF-", command: "pdftotext FILE -", grep: true},
	{name: "an SQLite database; give its path, as in oid census FILE", magic: "SQLite format 3\x00"}, // https://sqlite.org/fileformat.html
	{name: "a file of COPY in PostgreSQL's binary format; repeat COPY with FORMAT csv", magic: "PGCOPY\n\xff"},
	{name: "a journal of systemd", magic: "LPKSHHRH", command: "journalctl --file FILE -a -o verbose", grep: true},
	{name: dumpOfRedis, magic: "REDIS0", command: "redis-cli --scan", grep: true},
	{name: dataOfMongod, magic: "\x41\xd8\x01\x00\x01\x00\x00\x00", command: "mongodump --archive"},
	{name: dataOfMongod, magic: "\x80\x00\x00\x00????\x00\x00\x00\x00\x00\x00\x00\x00\x64\x10\x10\x00", command: "mongodump --archive"}, // its journal
	{name: "encrypted by gpg", magic: "-----BEGIN PGP MESSAGE-----", command: "gpg -d FILE"},
	{name: "encrypted by gpg", magic: "\x8c\x0d\x04\x09\x03", command: "gpg -d FILE"}, // by a password, with AES-256
	{name: "encrypted by gpg", magic: "\x8c\x0d\x04\x07\x03", command: "gpg -d FILE"}, // AES-128
	{name: "encrypted by gpg", magic: "\x85\x01?\x03", command: "gpg -d FILE"},        // for a key of RSA
	{name: "encrypted by gpg", magic: "\x85\x02?\x03", command: "gpg -d FILE"},
	{name: "encrypted by gpg", magic: "\x84\x5e\x03????????\x12", command: "gpg -d FILE"}, // of Curve25519
	{name: "encrypted by age", magic: "age-encryption.org/", command: "age -d -i KEY FILE"},
	{name: "encrypted by age", magic: "-----BEGIN AGE ENCRYPTED FILE-----", command: "age -d -i KEY FILE"},
	{name: "encrypted by openssl", magic: "Salted__", command: "openssl enc -d -aes-256-cbc -pbkdf2 -in FILE"},
	{name: "encrypted by openssl", magic: "U2FsdGVkX1", command: "openssl enc -d -a -aes-256-cbc -pbkdf2 -in FILE"}, // in Base64
	{name: "encrypted by Databasus; decrypt it first, as databasus.com/how-to-recover-without-databasus says", magic: "PGRSUS01"},
	{name: notGzip, magic: "\x1f\x8b"},
	{name: "text in UTF-16", magic: "\xff\xfe", command: iconv},
	{name: "text in UTF-16", magic: "\xfe\xff", command: iconv},
}

const (
	// bsdtar, a part of libarchive, writes a container of another format as a tar, for a census,
	// or all its files as one text.
	bsdtar = "bsdtar -cf - @FILE"
	asText = "bsdtar -xOf FILE"
)

const (
	dataOfMongod = "data of mongod, which only a server reads: start mongod --dbpath FOLDER, and if it fails mongod --dbpath FOLDER --repair before"
	dumpOfRedis  = "a dump of Redis, which only a server reads: start redis-server --dir FOLDER --dbfilename NAME, then read its keys or its values"
	notGzip      = "encrypted or damaged: it begins like gzip, but its header is wrong; compare its size and checksum with the original, or decrypt it first"
)

const pgDump = "PGDMP"

const iconv = "iconv -f UTF-16 -t UTF-8 FILE"

// python returns the command that writes values, an expression with module m, one per line: bytes
// as hexadecimal digits, and lists and objects as documents of JSON.
func python(module, values string) string {
	return `python3 -c "import json, ` + module + ` as m; [print(v.hex() if type(v) is bytes else v if type(v) is str else json.dumps({'_id': v}, default=bytes.hex)) for v in ` + values + `]"`
}

// arrow returns the command for a format that package pyarrow reads.
func arrow(module string) string {
	return python("pyarrow."+module, "m.read_table('FILE', columns=['_id'])['_id'].to_pylist()")
}

// weakMagic is the length of a magic that BSON may begin with, too: the length of a document.
const weakMagic = 2

// Known returns the error for data in a known format that cannot be read, or nil. mayBeBSON says
// that the data looks like BSON.
func (o *Options) Known(head []byte, mayBeBSON bool) error {
	for _, b := range binaries {
		if matches(head, b.magic) && (!mayBeBSON || len(b.magic) > weakMagic) {
			return o.refusal(b)
		}
	}
	return nil
}

// Refuse returns the error for data that is not text, or nil.
func (o *Options) Refuse(head []byte) error {
	if err := o.Known(head, false); err != nil {
		return err
	}
	if c := containerOf(head); c != nil {
		return o.refusal(c.binary)
	}
	control := 0
	for _, c := range head {
		if c < ' ' && !isText[c] || c == 0x7f {
			control++
		}
	}
	if control <= fewControl+len(head)/maxControl {
		return nil
	}
	err := o.refusal(binary{name: "not text", command: "strings -n 24 FILE", grep: true})
	return fmt.Errorf("%w; if it is BSON, type: oid census %s", err, argument(o.Name))
}

// Text may have fewControl control characters besides those in isText, and one more in
// maxControl characters. Random data has one in nine.
const (
	fewControl = 8
	maxControl = 20
)

var isText = [' ']bool{'\t': true, '\n': true, '\r': true, '\b': true, '\f': true, '\x1b': true}

const census = "oid census"

// refusal returns the error for a file in format b.
func (o *Options) refusal(b binary) error {
	then, command := o.Then, b.command
	switch isCensus := strings.HasPrefix(then, census); {
	case b.grep && isCensus:
		then = census + " --grep"
	case command == bsdtar && !isCensus:
		command = asText
	}
	name := argument(strings.TrimSuffix(o.Name, "/toc.dat")) // pg_restore reads the folder
	if strings.Contains(command, "'FILE'") {
		if name = strings.Trim(name, "'"); strings.ContainsAny(name, "'\"$`\\") {
			name = "FILE" // quotes within quotes are hard to read
		}
	}
	text := "unpack: oid does not read this: it is " + b.name
	if command != "" {
		text += fmt.Sprintf("; type: %s | %s", strings.ReplaceAll(command, "FILE", name), then)
	}
	return refused(text)
}

// refused is an error about a format that is known and is not read. It wraps ErrFormat.
type refused string

func (r refused) Error() string { return string(r) }

func (refused) Unwrap() error { return ErrFormat }

// argument returns the name of a file for a shell.
func argument(name string) string {
	if name == "" || name == "-" || name == "standard input" {
		return "FILE"
	}
	return phrase.Argument(name)
}
