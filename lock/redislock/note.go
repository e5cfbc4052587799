package redislock

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

//go:embed scripts/note.lua
var noteText string

var noteScript = newScript(noteText)

// noteKeys are the keys of a lock and of its note.
func noteKeys(name string) []string {
	lock := keys(name)[0]
	return []string{lock, lock + ":note"}
}

// notePause is the pause between two attempts to read a note.
const notePause = 100 * time.Millisecond

// Note returns the note of a lock and the time of Redis, see [lock.Locker].
func (l *Locker) Note(ctx context.Context, name string) (note engine.Note, err error) {
	if err := l.calls.BeginFor(name); err != nil {
		return engine.Note{}, err
	}
	defer l.calls.Done()
	mayPass := func(err error) bool { return !permanent(err) }
	err = l.calls.Repeat(ctx, notePause, mayPass, func(ctx context.Context) error {
		reply, err := l.eval(ctx, time.Now(), maxTry, noteScript(), noteKeys(name), []string{""})
		at, text, _ := strings.Cut(reply, " ")
		micro := int64(0)
		if err == nil {
			micro, err = strconv.ParseInt(at, 10, 64)
		}
		note = engine.Note{Text: text, Now: time.UnixMicro(micro)}
		return err
	})
	if err != nil {
		return engine.Note{}, fmt.Errorf("redislock: note of %q: %w", name, err)
	}
	return note, nil
}
