package pgstore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestReasons: after which errors a call is made again, and after which it may have
// had its effect.
func TestReasons(t *testing.T) {
	server := func(code string) error { return fmt.Errorf("call: %w", &pgconn.PgError{Code: code}) }
	for _, test := range []struct {
		name string
		err  error
		want reason
	}{
		{"serialization failure", server("40001"), undone},
		{"deadlock", server("40P01"), undone},
		{"not the primary any more", server("25006"), undone},
		{"too many connections", server("53300"), undone},
		{"server starts", server("57P03"), undone},
		{"server shuts down", server("57P01"), lost},
		{"server crashed", server("57P02"), lost},
		{"pooler lost its server", server("08P01"), lost},
		{"connection failure", server("08006"), lost},
		{"connection lost", fmt.Errorf("call: %w", &lostError{errors.New("EOF")}), lost},
		{"canceled", server("57014"), lasting},
		{"duplicate", server("23505"), lasting},
		{"syntax", server("42601"), lasting},
		{"disk full", server("53100"), lasting},
		{"refused while the connection closed", &lostError{server("23505")}, lasting},
		{"anything else", errors.New("x"), lasting},
		{"none", nil, lasting},
	} {
		if got := classify(test.err); got != test.want {
			t.Errorf("%s: reason %d, want %d", test.name, got, test.want)
		}
	}
}
