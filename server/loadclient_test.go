package server_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/objectid"
)

// worker is one client of load, with a connection of its own.
type worker struct {
	url      string
	client   *http.Client
	random   *rand.Rand
	requests map[string]int
	ids      []uint64 // seconds and counter: the block is one and the same
	process  string   // the path of the process that it has joined as
	errors   []string
}

// errLeaving means that the server closes the connection after an answer.
var errLeaving = errors.New("the server closes the connection")

// load sends mixed requests over many connections until the server ends them.
func load(url string, connections int) loaded {
	var all sync.WaitGroup
	workers := make([]*worker, connections)
	for i := range workers {
		w := &worker{
			url: url, random: rand.New(rand.NewPCG(uint64(i), 1)), requests: map[string]int{},
			client: &http.Client{
				Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: 2 * time.Minute,
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
		}
		workers[i] = w
		all.Go(func() { w.run(i) })
	}
	all.Wait()
	out := loaded{Requests: map[string]int{}}
	var ids []uint64
	for _, w := range workers {
		for kind, n := range w.requests {
			out.Requests[kind] += n
		}
		ids = append(ids, w.ids...)
		out.Errors = append(out.Errors, w.errors...)
	}
	out.IDs = len(ids)
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			out.Repeated++
		}
	}
	out.Errors = out.Errors[:min(len(out.Errors), 20)]
	return out
}

func (w *worker) run(number int) {
	for {
		kind, err := w.one(number)
		var dial *net.OpError
		switch {
		case err == nil:
			w.requests[kind]++
		case errors.Is(err, errLeaving):
			w.requests[kind]++
			return
		case errors.As(err, &dial) && dial.Op == "dial":
			return // the server has ended, and nothing was sent
		default:
			w.errors = append(w.errors, fmt.Sprintf("%s: %v", kind, err))
			return
		}
	}
}

// one sends one request of some kind.
func (w *worker) one(number int) (kind string, err error) {
	switch n := w.random.IntN(100); {
	case n < 20:
		return "ids as JSON", w.send("POST", "/v1/ids", fmt.Sprintf(`{"count":%d}`, 1+w.random.IntN(10)), "application/json", 200, w.takeJSON)
	case n < 35:
		return "ids as text", w.send("POST", "/v1/ids", fmt.Sprintf(`{"count":%d}`, 1+w.random.IntN(30)), "text/plain", 200, w.takeText)
	case n < 55:
		return "ids as bytes", w.send("POST", "/v1/ids", fmt.Sprintf(`{"count":%d}`, 1+w.random.IntN(60)), "application/octet-stream", 200, w.takeBytes)
	case n < 75:
		return "inspection", w.send("GET", "/v1/ids/507f1f77bcf86cd799439011", "", "", 200, nil)
	case n < 85:
		return "range", w.send("GET", "/v1/range?since=24h", "", "", 200, nil)
	case n < 88:
		return "page", w.send("GET", "/?id=507f1f77bcf86cd799439011", "", "text/html", 200, nil)
	case n < 90:
		return "wrong", w.send("POST", "/v1/ids", `{"count":-1}`, "", 422, nil)
	case n < 95:
		return "census", w.send("POST", "/v1/census", strings.Repeat("507f1f77bcf86cd799439011\n", 100), "", 200, nil)
	case n < 97:
		return "metrics", w.send("GET", "/metrics", "", "", 200, nil)
	case w.process == "":
		start := time.Now().UTC().Format(time.RFC3339)
		body := fmt.Sprintf(`{"name":"load","pid":%d,"address":"10.0.0.7:%d","started":%q}`, number+1, number+1, start)
		return "join", w.send("POST", "/v1/processes", body, "", 201, func(answer []byte) error {
			key, _, _ := strings.Cut(strings.TrimPrefix(string(answer), `{"member":"`), `"`)
			w.process = memberPath(key)
			return nil
		})
	default:
		return "heartbeat", w.send("POST", w.process+"/heartbeats", `{"memory_bytes":5}`, "", 200, nil)
	}
}

// send sends a request, whose answer must have the status want, and gives its body
// to take.
func (w *worker) send(method, path, body, accept string, want int, take func([]byte) error) error {
	req, err := http.NewRequest(method, w.url+path, io.MultiReader(strings.NewReader(body)))
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	if body == "" {
		req.Body = nil
	}
	req.Header.Set("Content-Type", "application/json")
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	res, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode != want:
		return fmt.Errorf("status %d: %s", res.StatusCode, answer)
	case take != nil:
		err = take(answer)
	}
	if err == nil && res.Close {
		err = errLeaving
	}
	return err
}

func (w *worker) add(id objectid.ID) {
	w.ids = append(w.ids, uint64(binary.BigEndian.Uint32(id[:4]))<<32|uint64(binary.BigEndian.Uint32(id[8:])))
}

func (w *worker) takeBytes(b []byte) error {
	if len(b)%objectid.Size != 0 {
		return fmt.Errorf("%d bytes of ids", len(b))
	}
	for ; len(b) > 0; b = b[objectid.Size:] {
		w.add(objectid.ID(b))
	}
	return nil
}

func (w *worker) takeText(b []byte) error {
	for line := range strings.Lines(string(b)) {
		id, err := objectid.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return err
		}
		w.add(id)
	}
	return nil
}

func (w *worker) takeJSON(b []byte) error {
	text := strings.TrimSuffix(strings.TrimPrefix(string(b), `{"ids":["`), "\"]}\n")
	for part := range strings.SplitSeq(text, `","`) {
		id, err := objectid.Parse(part)
		if err != nil {
			return err
		}
		w.add(id)
	}
	return nil
}
