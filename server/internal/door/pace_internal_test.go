package door

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// deadlines keeps the write deadlines that a response is given.
type deadlines struct {
	*httptest.ResponseRecorder
	all []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.all = append(d.all, t)
	return nil
}

// Each piece of a response has its time, and all together have one that no piece
// exceeds.
func TestPacedWriter(t *testing.T) {
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	began := time.Now()
	w := &pacedWriter{d, http.NewResponseController(d), time.Minute, began.Add(90 * time.Second)}
	for range 3 {
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	w.last = began.Add(time.Second)
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if len(d.all) != 4 || d.all[2].Sub(began) < time.Minute || d.all[2].Sub(began) > 89*time.Second || !d.all[3].Equal(w.last) {
		t.Errorf("deadlines after %v, %v and %v", d.all[0].Sub(began), d.all[2].Sub(began), d.all[3].Sub(began))
	}
}
