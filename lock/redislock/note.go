package redislock

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
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

// Note returns the note of a lock and the time of Redis, see [lock.Locker].
func (l *Locker) Note(ctx context.Context, name string) (engine.Note, error) {
	if err := l.calls.BeginFor(name); err != nil {
		return engine.Note{}, err
	}
	defer l.calls.Done()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		reply, err := l.eval(ctx, time.Now(), maxTry, noteScript(), noteKeys(name), []string{""})
		if err == nil {
			at, text, _ := strings.Cut(reply, " ")
			var micro int64
			if micro, err = strconv.ParseInt(at, 10, 64); err == nil {
				return engine.Note{Text: text, Now: time.UnixMicro(micro)}, nil
			}
		}
		if permanent(err) || ctx.Err() != nil {
			return engine.Note{}, fmt.Errorf("redislock: note of %q: %w", name, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		case <-l.calls.Closing.Done():
			return engine.Note{}, lock.ErrClosed
		}
	}
}
