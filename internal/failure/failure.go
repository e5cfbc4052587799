// Package failure says what an error of a backend means for another attempt. All engines of
// locks follow its one table.
//
// The table recognizes errors by their methods, not by their types, so that a program links
// only the drivers that it uses.
package failure

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
)

// Kind is what an error means for another attempt.
type Kind int

const (
	// Unknown: the error comes from no system that the table knows.
	Unknown Kind = iota
	// Final: the request would fail again.
	Final
	// Passes: the request may succeed later.
	Passes
	// WrongNode: the request may succeed on another node. Open connections lead to the wrong
	// one, but the name of the server may lead to the other one by now.
	WrongNode
)

// Row is a row of the table.
type Row struct {
	// Codes are the codes of the errors, see the table.
	Codes []any
	// Kind is what these errors mean.
	Kind Kind
	// Why says why the backend refuses requests, as the end of a sentence. It is empty if the
	// error is Final, or if the backend did not answer.
	Why string
}

// Retry reports whether another attempt may succeed.
func (r Row) Retry() bool { return r.Kind >= Passes }

// Of returns the row of err. An error of a known system without a row is Final.
func Of(err error) Row {
	var (
		redis    interface{ Reply() string }
		postgres interface{ SQLState() string }
		mongo    interface {
			HasErrorCode(code int) bool
			HasErrorLabel(label string) bool
		}
		sqlite interface{ Code() int }
		path   *fs.PathError
		link   *os.LinkError
		dial   *net.OpError
		name   *net.DNSError
	)
	switch {
	case errors.As(err, &redis):
		return find(redisRows, func(code any) bool { return strings.HasPrefix(redis.Reply()+" ", code.(string)+" ") })
	case errors.As(err, &postgres):
		return find(postgresRows, func(code any) bool { return strings.HasPrefix(postgres.SQLState(), code.(string)) })
	case errors.As(err, &mongo):
		return find(mongoRows, func(code any) bool {
			label, isLabel := code.(string)
			return isLabel && mongo.HasErrorLabel(label) || !isLabel && mongo.HasErrorCode(code.(int))
		})
	case errors.As(err, &sqlite):
		return find(sqliteRows, func(code any) bool { return code == sqlite.Code()&0xFF })
	case errors.As(err, &path), errors.As(err, &link):
		return find(fileRows, func(code any) bool { return errors.Is(err, code.(error)) })
	case errors.As(err, &dial), errors.As(err, &name), slices.ContainsFunc(unanswered, func(e error) bool { return errors.Is(err, e) }):
		return Row{Kind: Passes}
	}
	return Row{}
}

// unanswered are the errors of a server that hung up or did not answer in time.
var unanswered = []error{io.EOF, io.ErrUnexpectedEOF, os.ErrDeadlineExceeded, context.DeadlineExceeded}

func find(rows []Row, has func(code any) bool) Row {
	for _, r := range rows {
		if slices.ContainsFunc(r.Codes, has) {
			return r
		}
	}
	return Row{Kind: Final}
}
