package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// raw is a server that answers with any bytes, over connections without a network.
type raw struct {
	mu      sync.Mutex
	answer  func(r *http.Request) (text string, keep bool) // keep: the connection stays open
	arrived []time.Time                                    // of all requests
	beats   int
}

// set changes what the server answers.
func (s *raw) set(answer func(*http.Request) (string, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *raw) client(t *testing.T) *client.Client {
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go s.serve(there)
		return here, nil
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &client.Client{URL: "http://server", HTTP: &http.Client{Transport: transport}}
}

func (s *raw) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for keep := true; keep; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		s.mu.Lock()
		s.arrived = append(s.arrived, time.Now())
		if strings.HasSuffix(r.URL.Path, "/heartbeats") {
			s.beats++
		}
		answer := s.answer
		s.mu.Unlock()
		var text string
		text, keep = answer(r)
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

// busiest returns how many requests arrived in one second at most, and how many did.
func (s *raw) busiest() (most, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := 0
	for i, at := range s.arrived {
		for at.Sub(s.arrived[first]) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most, len(s.arrived)
}

// page is an answer with a body.
func page(status string, headers, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, headers, len(body), body)
}

// good answers as a server does.
func good(r *http.Request) (string, bool) {
	if r.URL.Path == "/v1/processes" {
		return page("201 Created", "", `{"member":"m1","gpid":"p1","process_block":"00000001","interval_seconds":1}`), true
	}
	return page("200 OK", "", aboutMember(r.URL.Path)), true
}

// hostile are servers, or what is between them and a client, that do something else.
var hostile = []struct {
	name, answer string
	keep         bool
}{
	{name: "garbage", answer: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"},
	{name: "nothing, and closes"},
	{name: "nothing", keep: true},
	{name: "half a head", answer: "HTTP/1.1 200 OK\r\nContent-Le"},
	{name: "half a head, and waits", answer: "HTTP/1.1 200 OK\r\nContent-Le", keep: true},
	{name: "half a body", answer: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"member\":"},
	{name: "half a body, and waits", answer: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"member\":", keep: true},
	{name: "half an error, and waits", answer: "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 100\r\n\r\n{", keep: true},
	{name: "a broken chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
	{name: "a page", answer: page("200 OK", "Content-Type: text/html\r\n", "<html>log in"), keep: true},
	{name: "null", answer: page("200 OK", "", "null"), keep: true},
	{name: "no content", answer: "HTTP/1.1 204 No Content\r\n\r\n", keep: true},
	{name: "another protocol", answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", keep: true},
	{name: "a redirect to itself", answer: page("307 Temporary Redirect", "Location: /v1/processes\r\n", ""), keep: true},
	{name: "a redirect for browsers", answer: page("302 Found", "Location: /login\r\n", ""), keep: true},
	{name: "a redirect to nowhere", answer: page("308 Permanent Redirect", "Location: http://%41:x/\r\n", ""), keep: true},
	{name: "429", answer: page("429 Too Many Requests", "", "{}"), keep: true},
	{name: "429 for 2 s", answer: page("429 Too Many Requests", "Retry-After: 2\r\n", "{}"), keep: true},
	{name: "503 and again at once", answer: page("503 Busy", "Retry-After: 0\r\n", "{}"), keep: true},
	{name: "503 for a century", answer: page("503 Busy", "Retry-After: 2147483647\r\n", "{}"), keep: true},
	{name: "503 until a past time", answer: page("503 Busy", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n", "{}"), keep: true},
	{name: "503 until the year 9999", answer: page("503 Busy", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n", "{}"), keep: true},
	{name: "401", answer: page("401 Unauthorized", "", "{}"), keep: true},
	{name: "404", answer: page("404 Not Found", "", "{}"), keep: true},
	{name: "500 that is not JSON", answer: page("500 Broken", "", "<html>"), keep: true},
}

// mostRequests is how many requests a member, or the ids of a program that asks all the
// time, send in a second: one with ten redirects, or with the repetitions that a server
// asks for at once.
const mostRequests = 12

// A server that misbehaves for ten minutes gets few requests, and those after it are sent
// soon. What a member sees is one warning, and one of the end.
func TestMemberOfAHostileServer(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &raw{answer: good}
				var warnings []error
				m, err := s.client(t).NewMember(t.Context(), wire.Registration{Name: "shop"}, &client.MemberOptions{Warn: func(err error) { warnings = append(warnings, err) }})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				s.set(func(*http.Request) (string, bool) { return h.answer, h.keep })
				time.Sleep(10 * time.Minute)
				if id := m.New(); block(id) != 1 {
					t.Errorf("block %d", block(id))
				}
				if most, all := s.busiest(); most > mostRequests || all < 10+40 {
					t.Errorf("%d requests in a second, %d in all", most, all)
				}
				s.set(good)
				time.Sleep(30 * time.Second) // longer than a call and a pause
				s.mu.Lock()
				s.beats = 0
				s.mu.Unlock()
				time.Sleep(10 * time.Second)
				synctest.Wait() // a heartbeat of this very moment has been answered
				if s.beats < 9 || s.beats > 11 {
					t.Errorf("%d heartbeats in 10 s after it", s.beats)
				}
				if len(warnings) != 2 || errors.Is(warnings[0], client.ErrBack) || !errors.Is(warnings[1], client.ErrBack) {
					t.Errorf("warnings %v, want one and one of the end", warnings)
				}
				if err := m.End("done"); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A program that asks for ids all the time, of which each call fails, causes few requests,
// and gets its ids when the server behaves.
func TestIDsOfAHostileServer(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &raw{answer: func(*http.Request) (string, bool) { return h.answer, h.keep }}
				ids := &client.IDs{Client: s.client(t)}
				for began := time.Now(); time.Since(began) < 10*time.Minute; time.Sleep(10 * time.Millisecond) {
					if id, err := ids.New(t.Context()); err == nil {
						t.Fatalf("%v without a registration", id)
					}
				}
				if most, all := s.busiest(); most > mostRequests || all < 8 {
					t.Errorf("%d requests in a second, %d in all", most, all)
				}
				s.set(good)
				time.Sleep(90 * time.Second)
				m, err := ids.Member(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := m.End("done"); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An answer of JSON that does not end is given up.
func TestEndlessAnswer(t *testing.T) {
	blanks := endless{most: 1 << 27}
	c := &client.Client{URL: "http://server", HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(&blanks)}, nil
	})}}
	if _, err := client.Get[wire.Inspection](t.Context(), c, "/v1/ids/x"); !errors.Is(err, client.ErrResponse) || blanks.read > blanks.most {
		t.Errorf("%v after %d bytes", err, blanks.read)
	}
}
