package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
)

// Variables in the environment of a command that runs under a lock.
const (
	lockNameVariable     = "OID_LOCK_NAME"
	lockOwnerVariable    = "OID_LOCK_OWNER"
	lockFenceVariable    = "OID_LOCK_FENCE"
	lockDeadlineVariable = "OID_LOCK_DEADLINE"
	lockSlotVariable     = "OID_LOCK_SLOT"
	lockOuterVariable    = "OID_LOCK_OUTER"
)

// lockEnvironment returns the environment of a command that runs under lease.
func lockEnvironment(lease *lock.Lease) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OID_LOCK_") })
	env = append(env,
		lockNameVariable+"="+lease.Name(),
		lockOwnerVariable+"="+lease.Owner().String(),
		lockFenceVariable+"="+strconv.FormatUint(lease.Fence(), 10))
	if d := lease.Deadline(); !d.IsZero() {
		env = append(env, lockDeadlineVariable+"="+d.UTC().Format(time.RFC3339Nano))
	}
	if slot := lease.Slot(); slot >= 0 {
		env = append(env, lockSlotVariable+"="+strconv.Itoa(slot))
	}
	if outer := outerOwners(); len(outer) > 0 {
		env = append(env, lockOuterVariable+"="+strings.Join(outer, " "))
	}
	return env
}

// outerOwners returns the owners of the locks under which oid itself runs,
// innermost first.
func outerOwners() []string {
	innermost := os.Getenv(lockOwnerVariable)
	if _, err := lock.ParseOwner(innermost); err != nil {
		return nil
	}
	return append([]string{innermost}, strings.Fields(os.Getenv(lockOuterVariable))...)
}
