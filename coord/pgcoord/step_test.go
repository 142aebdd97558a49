package pgcoord_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
)

// discarded is the end of the answer to DISCARD ALL, as pgbouncer was seen to leave it to
// the next client.
const discarded = "C\x00\x00\x00\x10DISCARD ALL\x00Z\x00\x00\x00\x05I"

// mixedUp is a connection on which an answer to somebody else's question comes before the
// one to ours.
type mixedUp struct {
	net.Conn
	foreign atomic.Pointer[[]byte] // comes before the next answer
	pending atomic.Pointer[[]byte]
	last    atomic.Pointer[[]byte] // the last that was read
}

func (c *mixedUp) Write(b []byte) (int, error) {
	if b[0] == 'P' { // a statement is parsed: a question
		c.pending.Store(c.foreign.Swap(nil))
	}
	return c.Conn.Write(b)
}

func (c *mixedUp) Read(b []byte) (int, error) {
	if foreign := c.pending.Swap(nil); foreign != nil {
		return copy(b, *foreign), nil
	}
	n, err := c.Conn.Read(b)
	if n > 0 {
		text := append([]byte{}, b[:n]...)
		c.last.Store(&text)
	}
	return n, err
}

// settingsOf is the answer that a client gets who sets what we set, under another name.
func settingsOf(t *testing.T, name string) string {
	t.Helper()
	columns := 9
	if one[bool](t, sql(t, shared(t)), "select exists (select from pg_settings where name = 'transaction_timeout')") {
		columns = 10
	}
	row := pgproto3.DataRow{Values: make([][]byte, columns)}
	row.Values[0] = []byte(name)
	var b []byte
	for _, m := range []pgproto3.BackendMessage{
		&pgproto3.ParseComplete{}, &pgproto3.BindComplete{}, &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, columns)},
		&row, &pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}, &pgproto3.ReadyForQuery{TxStatus: 'I'},
	} {
		var err error
		if b, err = m.Encode(b); err != nil {
			t.Fatal(err)
		}
	}
	return string(b)
}

// mixing makes a driver whose first connections are mixed up from the first question on.
func mixing(t *testing.T, first int32, text string) (*pgcoord.Driver, *atomic.Pointer[mixedUp]) {
	t.Helper()
	var made atomic.Int32
	var latest atomic.Pointer[mixedUp]
	d := closing(t, shared(t), pgcoord.Options{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			c := &mixedUp{Conn: conn}
			if made.Add(1) <= first {
				foreign := []byte(text)
				c.foreign.Store(&foreign)
			}
			latest.Store(c)
			return c, nil
		},
	})
	return d, &latest
}

func TestConnectionWithSomebodyElsesAnswerIsGivenUpForAnother(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"the pooler's own": discarded, "another client's": settingsOf(t, "another")} {
		d, _ := mixing(t, 2, text)
		s, err := d.Open(t.Context(), coord.SessionOptions{})
		if err != nil {
			t.Errorf("with %s answers on two connections: %v", what, err)
			continue
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	d, _ := mixing(t, 1000, discarded)
	_, err := d.Open(t.Context(), coord.SessionOptions{})
	if err == nil || errors.Is(err, coord.ErrRefused) || errors.Is(err, coord.ErrLost) {
		t.Errorf("with every connection mixed up: %v, want an error that may pass", err)
	}
}

func TestAnswerToAnEarlierRenewalIsNoRenewal(t *testing.T) {
	t.Parallel()
	d, latest := mixing(t, 0, "")
	g := must(t, open(t, d, coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: freshKey()})
	if _, err := g.(coord.Renewer).Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := latest.Load()
	c.foreign.Store(c.last.Load())
	if _, err := g.(coord.Renewer).Renew(t.Context()); !errors.Is(err, coord.ErrLost) {
		t.Errorf("renewing with the answer to an earlier question: %v, want ErrLost", err)
	}
}
