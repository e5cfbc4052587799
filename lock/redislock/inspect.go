package redislock

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// inspect asks Redis whether locks can be kept there.
func (l *Locker) inspect(ctx context.Context) error {
	infos, err := l.driver.Info(ctx)
	if err != nil {
		return fmt.Errorf("redislock: read INFO: %w", err)
	}
	for addr, text := range infos {
		info := parseInfo(text)
		if info["role"] == "slave" {
			if info["cluster_enabled"] == "1" {
				continue
			}
			return fmt.Errorf("redislock: %s is a read-only replica: name the primary, at %s:%s, or a Sentinel", addr, info["master_host"], info["master_port"])
		}
		if info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction" && info["maxmemory_policy"] != "" {
			l.options.Warn(fmt.Errorf("redislock: %s drops locks when its memory is full: set maxmemory-policy to noeviction, it is %s", addr, info["maxmemory_policy"]))
		}
	}
	return nil
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
