package failure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock/redislock"
	"github.com/oidkit/oid/store"
)

func sqlState(code string) error { return &pgconn.PgError{Code: code} }
func command(code int32) error   { return mongo.CommandError{Code: code} }

// primary is an error of SQLite, whose driver lets nobody else make one.
type primary int

func (primary) Error() string { return "SQLite" }
func (p primary) Code() int   { return int(p) }

// vectors are errors as drivers give them. The real servers of the other tests of this package
// and of the engines return most of them.
var vectors = []struct {
	err  error
	want failure.Kind
}{
	{redislock.ReplyError("READONLY You can't write against a read only replica. script: 1501ceb2, on @user_script:66."), failure.WrongNode},
	{redislock.ReplyError("ERR Error running script (call to f_1501ceb2): @user_script:66: @user_script: 66: -READONLY You can't write against a read only replica."), failure.WrongNode},
	{redislock.ReplyError("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."), failure.WrongNode},
	{redislock.ReplyError("LOADING Redis is loading the dataset in memory"), failure.WrongNode},
	{redislock.ReplyError("NOREPLICAS Not enough good replicas to write."), failure.WrongNode},
	{redislock.ReplyError("MOVED 7438 127.0.0.1:7001"), failure.WrongNode},
	{redislock.ReplyError("ASK 7438 127.0.0.1:7001"), failure.Passes},
	{redislock.ReplyError("CLUSTERDOWN Hash slot not served"), failure.Passes},
	{redislock.ReplyError("TRYAGAIN Multiple keys request during rehashing of slot"), failure.Passes},
	{redislock.ReplyError("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."), failure.Passes},
	{redislock.ReplyError("ERR Error running script (call to f_1501ceb2): @user_script:66: @user_script: 66: -MISCONF Redis is configured to save RDB snapshots"), failure.Passes},
	{redislock.ReplyError("OOM command not allowed when used memory > 'maxmemory'."), failure.Passes},
	{redislock.ReplyError("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."), failure.Passes},
	{redislock.ReplyError("ERR max number of clients reached"), failure.Passes},
	{redislock.ReplyError("max number of clients reached"), failure.Passes}, // as rueidis gives it
	{redislock.ReplyError("Error running script (call to f_1501ceb2): @user_script:66: @user_script: 66: -READONLY You can't write against a read only replica."), failure.WrongNode},
	{redislock.ReplyError("ERR max number of clients + cluster connections reached"), failure.Passes},
	{redislock.ReplyError("upstream failure"), failure.Passes},
	{redislock.ReplyError("no upstream host"), failure.Passes},
	{redislock.ReplyError("ERR Connection refused"), failure.Passes},
	{redislock.ReplyError("ERR Host is down"), failure.Passes},
	{redislock.ReplyError("BUSYGROUP Consumer Group name already exists"), failure.Final},
	{redislock.ReplyError("NOAUTH Authentication required."), failure.Final},
	{redislock.ReplyError("WRONGPASS invalid username-password pair or user is disabled."), failure.Final},
	{redislock.ReplyError("NOPERM this user has no permissions to run the 'evalsha' command"), failure.Final},
	{redislock.ReplyError("WRONGTYPE Operation against a key holding the wrong kind of value"), failure.Final},
	{redislock.ReplyError("ERR Error running script (call to f_1501ceb2): @user_script:3: attempt to index a nil value"), failure.Final},
	{redislock.ReplyError("ERR unknown command 'EVALSHA'"), failure.Final},
	{redislock.ReplyError(""), failure.Final},

	{sqlState("25006"), failure.WrongNode},
	{sqlState("57P01"), failure.Passes},
	{sqlState("57P02"), failure.Passes},
	{sqlState("57P03"), failure.Passes},
	{sqlState("57P05"), failure.Passes},
	{sqlState("57014"), failure.Passes},
	{sqlState("08P01"), failure.Passes},
	{sqlState("53100"), failure.Passes},
	{sqlState("53200"), failure.Passes},
	{sqlState("53300"), failure.Passes},
	{sqlState("40001"), failure.Passes},
	{sqlState("40P01"), failure.Passes},
	{sqlState("55P03"), failure.Passes},
	{sqlState("55006"), failure.Passes},
	{sqlState("58030"), failure.Passes},
	{sqlState("XX000"), failure.Passes},
	{sqlState("57P04"), failure.Final}, // the database was dropped
	{sqlState("28P01"), failure.Final},
	{sqlState("42501"), failure.Final},
	{sqlState("3D000"), failure.Final},
	{sqlState("XX001"), failure.Final}, // the data are damaged
	{sqlState(""), failure.Final},

	{command(10107), failure.WrongNode},
	{command(13435), failure.WrongNode},
	{command(13436), failure.WrongNode},
	{command(10058), failure.WrongNode},
	{command(189), failure.WrongNode},
	{command(11600), failure.WrongNode},
	{command(11602), failure.WrongNode},
	{command(91), failure.WrongNode},
	{command(6), failure.Passes},
	{command(7), failure.Passes},
	{command(89), failure.Passes},
	{command(9001), failure.Passes},
	{command(100), failure.Passes},
	{command(134), failure.Passes},
	{mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 64}}, failure.Passes},
	{command(50), failure.Passes},
	{command(262), failure.Passes},
	{command(112), failure.Passes},
	{command(24), failure.Passes},
	{command(13388), failure.Passes},
	{command(14031), failure.Passes},
	{command(39), failure.Passes},
	{command(146), failure.Passes},
	{mongo.CommandError{Code: 462, Labels: []string{"RetryableError"}}, failure.Passes},
	{mongo.CommandError{Labels: []string{"NetworkError"}}, failure.Passes},
	{mongo.CommandError{Labels: []string{"RetryableWriteError"}}, failure.Passes},
	{mongo.CommandError{Labels: []string{"TransientTransactionError"}}, failure.Passes},
	{command(18), failure.Final}, // AuthenticationFailed
	{command(13), failure.Final}, // Unauthorized
	{mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 11000}}}, failure.Final},

	{primary(5), failure.Passes},
	{primary(5 | 2<<8), failure.Passes},  // SQLITE_BUSY_SNAPSHOT
	{primary(6), failure.Passes},         //
	{primary(7), failure.Passes},         //
	{primary(9), failure.Passes},         //
	{primary(10 | 4<<8), failure.Passes}, // SQLITE_IOERR_FSYNC
	{primary(13), failure.Passes},
	{primary(14), failure.Passes},
	{primary(15), failure.Passes},
	{primary(17), failure.Passes},
	{primary(8), failure.Final},           // SQLITE_READONLY
	{primary(11), failure.Final},          // SQLITE_CORRUPT
	{primary(26), failure.Final},          // SQLITE_NOTADB
	{primary(19 | 6<<8), failure.Final},   // SQLITE_CONSTRAINT_PRIMARYKEY
	{primary(8 | 1032<<8), failure.Final}, // SQLITE_READONLY_DBMOVED and more

	{&fs.PathError{Op: "write", Err: syscall.ENOSPC}, failure.Passes},
	{&fs.PathError{Op: "write", Err: syscall.EDQUOT}, failure.Passes},
	{&fs.PathError{Op: "open", Err: syscall.EMFILE}, failure.Passes},
	{&fs.PathError{Op: "open", Err: syscall.ENFILE}, failure.Passes},
	{&fs.PathError{Op: "open", Err: syscall.ENOMEM}, failure.Passes},
	{&fs.PathError{Op: "lock", Err: syscall.ENOLCK}, failure.Passes},
	{&fs.PathError{Op: "sync", Err: syscall.EIO}, failure.Passes},
	{&os.LinkError{Op: "rename", Err: syscall.ESTALE}, failure.Passes},
	{&fs.PathError{Op: "open", Err: syscall.ETIMEDOUT}, failure.Passes},
	{&fs.PathError{Op: "open", Err: syscall.EINTR}, failure.Passes},
	{&fs.PathError{Op: "lock", Err: syscall.EAGAIN}, failure.Passes},
	{&os.LinkError{Op: "rename", Err: syscall.EBUSY}, failure.Passes},
	{&fs.PathError{Op: "open", Err: syscall.ENOENT}, failure.Final},
	{&fs.PathError{Op: "open", Err: syscall.EACCES}, failure.Final},
	{&fs.PathError{Op: "open", Err: syscall.EROFS}, failure.Final},

	{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, failure.Passes},
	{&net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}, failure.Passes},
	{&net.DNSError{Err: "server misbehaving", Name: "redis"}, failure.Passes},
	{io.EOF, failure.Passes},
	{io.ErrUnexpectedEOF, failure.Passes},
	{os.ErrDeadlineExceeded, failure.Passes},
	{context.DeadlineExceeded, failure.Passes},
	{errors.New("something else"), failure.Unknown},
	{context.Canceled, failure.Unknown},
	{store.ErrMoved, failure.Unknown},
	{nil, failure.Unknown},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		for _, err := range []error{v.err, fmt.Errorf("acquire: %w", v.err), errors.Join(errors.New("other"), v.err)} {
			if v.err == nil {
				err = nil
			}
			got := failure.Of(err)
			if got.Kind != v.want || got.Retry() != (v.want >= failure.Passes) {
				t.Errorf("%T %v: %v, want %v", v.err, err, got, v.want)
			}
			if got.Why != "" && !got.Retry() {
				t.Errorf("%v: a reason %q for an error that does not pass", err, got.Why)
			}
		}
	}
}

// Each code of the table has a vector.
func TestEachCodeHasAVector(t *testing.T) {
	for _, rows := range failure.Rows {
		all := slices.Clone(rows)
		for i := range all {
			for _, code := range all[i].Codes {
				// Without the code, a vector must get another row or none.
				less := slices.DeleteFunc(slices.Clone(all[i].Codes), func(c any) bool { return c == code })
				found := false
				for _, v := range vectors {
					rows[i].Codes = less
					without := failure.Of(v.err).Kind
					rows[i].Codes = all[i].Codes
					found = found || without != v.want
				}
				if !found {
					t.Errorf("no vector has the code %v", code)
				}
			}
		}
	}
}
