package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
)

// changes are the commands that MongoDB carries out in one step for each document.
// FerretDB reads the document first and writes it then, so that two at once could
// both succeed.
var changes = []string{"update", "findAndModify", "findandmodify", "delete"}

// turns passes MongoDB's messages on to a server, changes one after another.
type turns struct {
	server string
	mu     sync.Mutex
}

func (t *turns) serve(l net.Listener) error {
	for {
		client, err := l.Accept()
		if err != nil {
			return err
		}
		go t.pass(client)
	}
}

// pass serves one connection until either side ends it.
func (t *turns) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", t.server)
	if err != nil {
		return
	}
	defer server.Close()
	for {
		m, err := readMessage(client)
		if err != nil {
			return
		}
		if err := t.exchange(client, server, m); err != nil {
			return
		}
	}
}

// exchange passes a request on and its answer back.
func (t *turns) exchange(client, server net.Conn, m message) error {
	if slices.Contains(changes, m.command()) {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	if _, err := server.Write(m); err != nil {
		return err
	}
	for more := !m.moreToCome(); more; {
		answer, err := readMessage(server)
		if err != nil {
			return err
		}
		if _, err := client.Write(answer); err != nil {
			return err
		}
		more = answer.moreToCome()
	}
	return nil
}

// message is one of MongoDB's wire protocol: a header of 16 bytes, and with OP_MSG
// flags, a byte and the document of the command.
type message []byte

const (
	header = 16
	opMsg  = 2013
)

func readMessage(r io.Reader) (message, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n < header || n > 64<<20 {
		return nil, fmt.Errorf("message of %d bytes", n)
	}
	m := make(message, n)
	copy(m, size[:])
	_, err := io.ReadFull(r, m[4:])
	return m, err
}

func (m message) isMsg() bool {
	return len(m) > header+4 && binary.LittleEndian.Uint32(m[12:]) == opMsg
}

// moreToCome reports whether the message has no answer, or another one after it.
func (m message) moreToCome() bool { return m.isMsg() && m[header]&2 != 0 }

// command returns the name of the command, the first field of its document.
func (m message) command() string {
	const name = header + 4 + 1 + 4 + 1
	if !m.isMsg() || len(m) < name {
		return ""
	}
	end := bytes.IndexByte(m[name:], 0)
	if end < 0 {
		return ""
	}
	return string(m[name : name+end])
}
