package judge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// HeldBytes is how much the buffers between the creation of an id and its arrival hold:
// two pipes of 64 KiB, and 32 KiB in programs. An id may be that much older than the ids
// that arrive.
const HeldBytes = 160 << 10

// blockBytes is how much is read at once.
const blockBytes = 256 << 10

// Reader reads the ids that one program writes.
type Reader struct {
	Name  string        // of the program, in examples
	PID   int           // of the program, or 0 with Fork
	Want  int64         // ids of each process
	Fork  bool          // the program forks, and writes a line before the ids of each process
	Held  int64         // bytes that the buffers between the creation of an id and its arrival hold: [HeldBytes]
	Time  time.Duration // in which Want ids are read at the earliest
	Clock *Clock

	streams []*Stream
}

// Read returns the streams of the processes of a program: one, or with Fork that before
// the fork, those of the children and that of the parent after it. It stops when there
// are as many ids as are wanted, or with [io.EOF] and the streams at the end of what the
// program writes.
func (r *Reader) Read(in io.Reader) ([]*Stream, error) {
	c, block, total := r.Clock, make([]byte, 0, blockBytes), int64(0)
	asked := []reading{{c.began, 0, math.MinInt64}} // before the bytes from a number on were read
	r.add(r.Name, r.Name)
	for !r.done() {
		n, err := in.Read(block[len(block):cap(block)])
		for len(asked) > 1 && asked[1].bytes <= total-r.Held {
			asked = asked[1:]
		}
		total += int64(n)
		c.from, c.to = asked[0], c.read(total)
		asked = append(asked, c.to)
		block = block[:len(block)+n]
		end := bytes.LastIndexByte(block, '\n') + 1
		if errors.Is(err, io.EOF) {
			end = len(block) // the last line may have no end
		}
		first := r.last().ids == 0
		if err := r.take(block[:end]); err != nil {
			return nil, err
		}
		s := r.last()
		switch {
		case errors.Is(err, io.EOF) && !r.done():
			return r.streams, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("after id %d: %w", s.ids, err)
		case end == 0 && len(block) == cap(block):
			return nil, fmt.Errorf("%s has written %d bytes without a line feed", s.name, len(block))
		case c.mode != Running && first && s.ids > 0 && time.Unix(int64(s.second), 0).Sub(c.to.at).Abs() < time.Minute:
			return nil, fmt.Errorf("%s does not see the clock of --clock: libfaketime does not reach programs that ask the system for the time without the C library, as those in Go; its ids are not judged", s.name)
		case c.Moves() && s.ids >= r.Want/2:
			c.reached++
			if err := c.Move(c.Moment()); err != nil {
				return nil, err
			}
		}
		block = block[:copy(block, block[end:])]
		if early := time.Duration(float64(r.Time)*float64(s.ids)/float64(r.Want)) - c.to.at.Sub(c.began); early > 0 {
			c.Sleep(early)
		}
	}
	return r.streams, nil
}

// Enough reports whether the ids that were read can be judged: a program that forks needs
// those of a child and of the parent after it.
func (r *Reader) Enough() bool {
	return r.last().ids > 0 && (!r.Fork || len(r.streams) > 2 && r.last().process == r.Name)
}

// take judges whole lines, until there are as many ids as are wanted.
func (r *Reader) take(text []byte) error {
	for {
		s := r.last()
		rest, err := s.lines(text)
		if len(rest) == 0 || !r.Fork {
			return err
		}
		var line []byte
		line, text, _ = bytes.Cut(rest, []byte{'\n'})
		switch line = bytes.TrimSpace(line); string(line) {
		case "child":
			name := fmt.Sprint("child ", len(r.streams))
			r.add(name, name)
		case "parent":
			r.add("the parent after the fork", r.Name)
		default:
			if err == nil {
				err = fmt.Errorf("%s, after id %d: want a line \"child\" or \"parent\", not %.60q; does the command fork when OID_VERIFY is fork? see verify --help", s.name, s.ids, line)
			}
			return err
		}
	}
}

func (r *Reader) last() *Stream { return r.streams[len(r.streams)-1] }

// add begins the next stream.
func (r *Reader) add(name, process string) {
	r.streams = append(r.streams, &Stream{name: name, process: process, pid: r.PID, clock: r.Clock, want: r.Want, found: findings{}})
}

// done reports whether there are as many ids as are wanted.
func (r *Reader) done() bool {
	s := r.last()
	return s.ids >= s.want && (!r.Fork || len(r.streams) > 1 && s.process == r.Name)
}
