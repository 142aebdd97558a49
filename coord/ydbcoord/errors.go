package ydbcoord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Issue"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
)

// StatusError is an answer of the service other than success. Its text begins with that of the service, which is not
// trusted.
type StatusError struct {
	Status Ydb.StatusIds_StatusCode
	Text   string // of the first issue, at most 200 bytes; "" without an issue
}

// Error returns a text such as "PRECONDITION_FAILED: too many sessions".
func (e *StatusError) Error() string {
	if e.Text == "" {
		return e.Status.String()
	}
	return e.Status.String() + ": " + e.Text
}

const longestIssue = 200

func newStatusError(code Ydb.StatusIds_StatusCode, issues []*Ydb_Issue.IssueMessage) *StatusError {
	e := &StatusError{Status: code}
	if len(issues) > 0 {
		e.Text = cutText(issues[0].GetMessage(), longestIssue)
	}
	return e
}

// statusOf returns the status that the service gave in err, or STATUS_CODE_UNSPECIFIED.
func statusOf(err error) Ydb.StatusIds_StatusCode {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Status
	}
	return Ydb.StatusIds_STATUS_CODE_UNSPECIFIED
}

// answerError returns the error for the status of an answer, or nil for success. It wraps coord.ErrNotFound or
// coord.ErrRefused if the status means that.
func answerError(code Ydb.StatusIds_StatusCode, issues []*Ydb_Issue.IssueMessage) error {
	err := newStatusError(code, issues)
	switch code {
	case Ydb.StatusIds_SUCCESS:
		return nil
	case Ydb.StatusIds_NOT_FOUND:
		return fmt.Errorf("%w: %w", coord.ErrNotFound, err)
	case Ydb.StatusIds_BAD_REQUEST, Ydb.StatusIds_UNAUTHORIZED, Ydb.StatusIds_PRECONDITION_FAILED,
		Ydb.StatusIds_ALREADY_EXISTS, Ydb.StatusIds_SCHEME_ERROR, Ydb.StatusIds_UNSUPPORTED:
		return fmt.Errorf("%w: %w", coord.ErrRefused, err)
	}
	return err
}

// failureError returns the error for the failure of a whole stream, where some statuses mean something else than in
// answerError. PRECONDITION_FAILED (too many sessions) may pass. NOT_FOUND also wraps coord.ErrRefused, because waiting
// for a missing node is useless; but it does not prove that the node does not exist.
func failureError(code Ydb.StatusIds_StatusCode, issues []*Ydb_Issue.IssueMessage) error {
	err := newStatusError(code, issues)
	switch code {
	case Ydb.StatusIds_SUCCESS, Ydb.StatusIds_PRECONDITION_FAILED:
		return err
	case Ydb.StatusIds_NOT_FOUND:
		absent := fmt.Errorf("the service does not find the coordination node (%v)", code)
		return failure.With(absent, coord.ErrRefused, coord.ErrNotFound, err)
	}
	return answerError(code, issues)
}

// callError returns a short error for a failed call, because errors of gRPC and the SDK have many lines. It joins
// coord.ErrRefused if the server would answer the same again.
func callError(err error) error {
	if err == nil {
		return nil
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			return end
		}
	}
	st, ok := status.FromError(err)
	if !ok {
		return innermost(err)
	}
	return newCallError(st.Code(), cutText(st.Message(), longestIssue))
}

func newCallError(code codes.Code, text string) error {
	err := &CallError{Code: code, Text: text}
	switch code {
	case codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented, codes.InvalidArgument:
		return fmt.Errorf("%w: %w", coord.ErrRefused, err)
	}
	return err
}

// sdkError returns a short error for one of the SDK, because those are long and name source files.
func sdkError(err error) error {
	switch {
	case err == nil:
		return nil
	case ydb.IsOperationError(err):
		return answerError(Ydb.StatusIds_StatusCode(ydb.OperationError(err).Code()), nil)
	case ydb.IsTransportError(err):
		e := ydb.TransportError(err)
		return newCallError(codes.Code(e.Code()), e.Name())
	}
	return innermost(err)
}

// innermost returns err with the text of its deepest cause only.
func innermost(err error) error {
	deepest := err
	for next := errors.Unwrap(deepest); next != nil; next = errors.Unwrap(deepest) {
		deepest = next
	}
	return failure.With(deepest, err)
}

// doing returns err with the prefix what, or nil if err is nil.
func doing(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// CallError reports that a call failed in the connection or in gRPC, not in the service.
type CallError struct {
	Code codes.Code
	Text string // at most 200 bytes
}

// Error returns a text such as "Unavailable: connection refused".
func (e *CallError) Error() string { return e.Code.String() + ": " + e.Text }

// uncertain returns the error of a claim that ended but may still be granted. It wraps err unless that is nil. The
// service notices a client that is gone within two of its pings, of which three or more fit into the TTL, and then
// keeps the session for the TTL. So the claim has surely ended after twice the TTL.
func uncertain(ttl time.Duration, err error) error {
	return coord.Uncertain(fmt.Sprintf("the service ends our session within %v", 2*ttl), err)
}
