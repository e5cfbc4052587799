package redislock

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"
)

// inspectTime is how long a new Locker waits for what its nodes say of their settings.
const inspectTime = 100 * time.Millisecond

// inspect warns of settings of Redis with which locks are not safe there. It refuses
// nothing: a lock needs the answer of one node, and that says itself what is wrong.
// Nodes that have not answered after inspectTime, or cannot be asked, are left out.
func (l *Locker) inspect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	for addr, text := range l.driver.Info(ctx) {
		info := parseInfo(text)
		switch replica, clustered := info["role"] == "slave", info["cluster_enabled"] == "1"; {
		case replica && !clustered:
			l.options.Warn(fmt.Errorf("redislock: %s is a read-only replica: name the primary, at %s:%s, or a Sentinel", addr, info["master_host"], info["master_port"]))
		case !replica && info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction" && info["maxmemory_policy"] != "":
			l.options.Warn(fmt.Errorf("redislock: %s drops locks when its memory is full: set maxmemory-policy to noeviction, it is %s", addr, info["maxmemory_policy"]))
		}
	}
}

// parseInfo returns the fields of the reply to INFO.
func parseInfo(text string) map[string]string {
	fields := make(map[string]string)
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok {
			fields[key] = value
		}
	}
	return fields
}
