package pgwire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
)

// Reply is an error that the server sent, as one short line.
type Reply struct{ *pgconn.PgError }

// textShown bounds the bytes of a server's text in a sentence.
const textShown = 300

// Line returns a text of a server as one short line.
func Line(text string) string {
	cut := text[:min(len(text), 4*textShown)] // the rest is not read
	line := strings.Join(strings.Fields(cut), " ")
	if len(cut) < len(text) && len(line) <= textShown {
		line += " …"
	}
	return format.Clean(line, textShown)
}

// Error returns the server's message, its detail or hint, and its SQLSTATE.
func (r *Reply) Error() string {
	text := Line(r.Message)
	switch {
	case r.Detail != "":
		text += ": " + Line(r.Detail)
	case r.Hint != "":
		text += " (" + Line(r.Hint) + ")"
	}
	return text + " (SQLSTATE " + format.Clean(r.Code, 5) + ")"
}

// Unwrap returns the library's error.
func (r *Reply) Unwrap() error { return r.PgError }

// replied returns an error of the server as a *Reply, and any other error unchanged.
func replied(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &Reply{e}
	}
	return err
}

// connecting returns the errors of several hosts and addresses as one line. It removes the user and the address, which
// the library's errors contain.
func connecting(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &Reply{e}
	}
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = connect.Unwrap()
		lines := slices.Compact(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' })) // with and without TLS
		return failure.With(errors.New(format.Clean(strings.Join(lines, "; "), 2*textShown)), err)
	}
	return err
}

// Connecting returns the error of an attempt to connect with the library as one line without the user, see Because.
func Connecting(ctx context.Context, err error) error {
	return Because(ctx, "connecting", connecting(err))
}

// Because wraps an error with what was being done. If ctx has ended, the text names only that, because the library's
// error is a consequence.
func Because(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	_, replied := errors.AsType[*Reply](err)
	cause := context.Cause(ctx)
	if cause == nil || replied || errors.Is(err, ErrNoSession) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	why := cause.Error()
	switch cause {
	case context.DeadlineExceeded:
		why = "no answer in time"
	case context.Canceled:
		why = "given up"
	}
	return failure.With(errors.New(doing+": "+why), cause, err)
}
