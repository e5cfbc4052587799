package pgstore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestFailures: after which errors a call is tried again, and after which the failed attempt
// may have had its effect.
func TestFailures(t *testing.T) {
	server := func(code string) error { return fmt.Errorf("call: %w", &pgconn.PgError{Code: code}) }
	for _, test := range []struct {
		name string
		err  error
		want outcome
	}{
		{"serialization failure", server("40001"), retryable},
		{"deadlock", server("40P01"), retryable},
		{"not the primary any more", server("25006"), retryable},
		{"too many connections", server("53300"), retryable},
		{"server starts", server("57P03"), retryable},
		{"database dropped", server("57P04"), permanent},
		{"another transaction has the row", server("55P03"), retryable},
		{"wrong password", server("28P01"), permanent},
		{"server shuts down", server("57P01"), ambiguous},
		{"server crashed", server("57P02"), ambiguous},
		{"pooler lost its server", server("08P01"), ambiguous},
		{"connection failure", server("08006"), ambiguous},
		{"connection lost", fmt.Errorf("call: %w", &lostError{errors.New("EOF")}), ambiguous},
		{"canceled", server("57014"), permanent},
		{"duplicate", server("23505"), permanent},
		{"syntax", server("42601"), permanent},
		{"disk full", server("53100"), permanent},
		{"refused while the connection closed", &lostError{server("23505")}, permanent},
		{"anything else", errors.New("x"), permanent},
		{"none", nil, permanent},
	} {
		if got := classify(test.err); got != test.want {
			t.Errorf("%s: outcome %d, want %d", test.name, got, test.want)
		}
	}
}
