package mongostore_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"github.com/oidkit/oid/store/mongostore"
)

// scripted simulates the primary of a replica set of MongoDB 7 for one test. The driver is the
// real one; functions of the test answer its commands. So the test can cause situations that
// FerretDB does not support and that are hard to cause on a real server.
type scripted struct {
	t    *testing.T
	addr string

	mu       sync.Mutex
	answers  map[string][]func(bson.Raw) any // by command, in turn; the last stays
	received []bson.Raw
}

func newScripted(t *testing.T) *scripted {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{t: t, addr: l.Addr().String(), answers: map[string][]func(bson.Raw) any{}}
	var group sync.WaitGroup
	var connections []net.Conn
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			connections = append(connections, c)
			s.mu.Unlock()
			group.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for _, c := range connections {
			c.Close()
		}
		s.mu.Unlock()
		group.Wait()
	})
	return s
}

// open opens a store on the scripted server; parameters are those of its URL.
func (s *scripted) open(parameters string) *mongostore.Store {
	s.t.Helper()
	return open(s.t, "mongodb://"+s.addr+"/test?serverSelectionTimeoutMS=5000&"+parameters)
}

// on adds answers to a command. Each answer is used once, the last one repeatedly.
func (s *scripted) on(command string, answers ...func(bson.Raw) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[command] = append(s.answers[command], answers...)
}

// got returns the received commands with this name.
func (s *scripted) got(command string) (all []bson.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.received {
		if name(c) == command {
			all = append(all, c)
		}
	}
	return all
}

func name(command bson.Raw) string { return command.Index(0).Key() }

func (s *scripted) answer(command bson.Raw) any {
	switch name(command) {
	case "hello", "isMaster", "ismaster":
		return bson.D{
			{Key: "helloOk", Value: true},
			{Key: "isWritablePrimary", Value: true},
			{Key: "ismaster", Value: true},
			{Key: "setName", Value: "rs"},
			{Key: "setVersion", Value: 1},
			{Key: "hosts", Value: bson.A{s.addr}},
			{Key: "me", Value: s.addr},
			{Key: "minWireVersion", Value: 0},
			{Key: "maxWireVersion", Value: 21},
			{Key: "logicalSessionTimeoutMinutes", Value: 30},
			{Key: "maxBsonObjectSize", Value: 16 << 20},
			{Key: "maxMessageSizeBytes", Value: 48_000_000},
			{Key: "maxWriteBatchSize", Value: 100_000},
			{Key: "ok", Value: 1},
		}
	case "ping", "endSessions", "killCursors":
		return bson.D{{Key: "ok", Value: 1}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, command)
	answers := s.answers[name(command)]
	if len(answers) == 0 {
		s.t.Errorf("unexpected command %v", command)
		return fails(59)(command)
	}
	if len(answers) > 1 {
		s.answers[name(command)] = answers[1:]
	}
	return answers[0](command)
}

// opQuery is the code of an old message of the wire protocol. The driver sends it to a server
// whose version it does not know yet.
const opQuery = 2004

// serve answers one connection until its client ends it.
func (s *scripted) serve(c net.Conn) {
	defer c.Close()
	for {
		head := make([]byte, 16)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(head)-16)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		id, query := int32(binary.LittleEndian.Uint32(head[4:])), binary.LittleEndian.Uint32(head[12:]) == opQuery
		command, err := commandOf(body, query)
		if err != nil {
			s.t.Errorf("message that the script does not know: %v", err)
			return
		}
		raw, err := bson.Marshal(s.answer(command))
		if err != nil {
			s.t.Error(err)
			return
		}
		if _, err := c.Write(reply(id, raw, query)); err != nil {
			return
		}
	}
}

// commandOf returns the command in a message. Documents in separate sections become a field of
// the command, as if there were no sections.
func commandOf(body []byte, query bool) (bson.Raw, error) {
	if query { // flags, the collection's name, two numbers
		return bson.Raw(body[4+bytes.IndexByte(body[4:], 0)+1+8:]), nil
	}
	var command bson.D
	for rest := body[4:]; len(rest) > 0; {
		kind, size := rest[0], int(binary.LittleEndian.Uint32(rest[1:]))
		section := rest[1 : 1+size]
		rest = rest[1+size:]
		if kind == 0 {
			var fields bson.D
			if err := bson.Unmarshal(section, &fields); err != nil {
				return nil, err
			}
			command = slices.Concat(fields, command)
			continue
		}
		end := bytes.IndexByte(section[4:], 0) + 4
		var docs bson.A
		for doc := section[end+1:]; len(doc) > 0; {
			n := binary.LittleEndian.Uint32(doc)
			docs = append(docs, bson.Raw(doc[:n]))
			doc = doc[n:]
		}
		command = append(command, bson.E{Key: string(section[4:end]), Value: docs})
	}
	return bson.Marshal(command)
}

func reply(to int32, doc []byte, query bool) []byte {
	opcode, before := wiremessage.OpMsg, make([]byte, 4+1) // flags, kind of the section
	if query {
		opcode, before = wiremessage.OpReply, make([]byte, 4+8+4+4)
		before[16] = 1 // one document
	}
	m := make([]byte, 16)
	binary.LittleEndian.PutUint32(m, uint32(16+len(before)+len(doc)))
	binary.LittleEndian.PutUint32(m[8:], uint32(to))
	binary.LittleEndian.PutUint32(m[12:], uint32(opcode))
	return slices.Concat(m, before, doc)
}

// replies answers with these fields and ok.
func replies(fields ...bson.E) func(bson.Raw) any {
	return func(bson.Raw) any { return append(bson.D(fields), bson.E{Key: "ok", Value: 1}) }
}

// fails answers with an error with this code and these labels.
func fails(code int32, labels ...string) func(bson.Raw) any {
	return func(bson.Raw) any {
		return bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}, {Key: "errmsg", Value: fmt.Sprintf("scripted error %d", code)}, {Key: "errorLabels", Value: labels}}
	}
}

// cursor answers with the first or a later batch of a cursor. An id other than 0 means that
// there are more batches.
func cursor(batch string, id int64, extra bson.D, docs ...any) func(bson.Raw) any {
	fields := append(bson.D{{Key: "id", Value: id}, {Key: "ns", Value: "test.c"}, {Key: batch, Value: append(bson.A{}, docs...)}}, extra...)
	return replies(bson.E{Key: "cursor", Value: fields})
}
