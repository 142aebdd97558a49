package ydbcoord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
)

const (
	// takenFor is the timeout that is set for a session that was taken over, in case the request to stop it is lost.
	takenFor = time.Second
	// recreateFor bounds the creation of a semaphore that was deleted.
	recreateFor = 10 * time.Second
)

// Guard returns the text that is compared before an ownership is ended: the session and the order id, which no later
// claim has.
func (m SemaphoreMember) Guard() string {
	return OwnerID(m.Session, "") + "/" + strconv.FormatUint(m.Order, 10)
}

// memberOf parses a Guard.
func memberOf(guard string) (m SemaphoreMember, err error) {
	session, order, _ := strings.Cut(guard, "/")
	m.Session, err = strconv.ParseUint(session, 10, 64)
	if err == nil {
		m.Order, err = strconv.ParseUint(order, 10, 64)
	}
	if err != nil || m.Session == 0 || m.Order == 0 {
		return m, fmt.Errorf("%w: no session and order id in the guard %q", coord.ErrInvalid, cutText(guard, 40))
	}
	return m, nil
}

// ForceRelease implements coord.ForceReleaser. With Options.ClientsUnprotected it ends the owner's session; otherwise,
// with Options.AllowRecreate, it deletes the semaphore and creates it again. The service compares nothing, so the owner
// is read just before. It cannot end a wait. If another client deletes the semaphore after the read, it exists again
// afterwards, with no owner, and the error wraps coord.ErrChanged.
func (d *Driver) ForceRelease(ctx context.Context, f coord.Foreign) error {
	return doing("ending the ownership of session "+f.Owner, d.forceRelease(ctx, f))
}

func (d *Driver) forceRelease(ctx context.Context, f coord.Foreign) error {
	m, err := memberOf(f.Guard)
	switch {
	case err != nil:
		return err
	case f.Waiting, !d.options.ClientsUnprotected && !d.options.AllowRecreate:
		return coord.ErrUnsupported
	}
	s, err := d.OpenSession(ctx, coord.SessionOptions{TTL: 3 * recreateFor, Description: "coordtop-release"})
	if err != nil {
		return err
	}
	defer func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		_ = s.Close(late) // the session owns nothing
	}()
	// Our session was attached before the node is described, so it belongs to this incarnation or an earlier one, not
	// to a later one.
	if now := d.incarnation(ctx); strings.Contains(f.Owner, "@") && f.Owner != OwnerID(m.Session, now) {
		return fmt.Errorf("%w: the coordination node was made anew, or cannot be described any more", coord.ErrChanged)
	}
	if d.options.ClientsUnprotected {
		if _, err := stillOwned(ctx, s, f.Name, m); err != nil {
			return err
		}
		return stopOther(ctx, s, d.client, m.Session)
	}
	return recreate(ctx, s, f.Name, m)
}

// stillOwned reads a semaphore. It returns coord.ErrChanged if m does not own it any more.
func stillOwned(ctx context.Context, s *Session, name string, m SemaphoreMember) (Semaphore, error) {
	state, err := s.Look(ctx, name)
	if err != nil {
		return Semaphore{}, err
	}
	if order, owns := state.Semaphore.orderOf(m.Session); !owns || order != m.Order {
		return Semaphore{}, fmt.Errorf("%w: it is not the owner any more", coord.ErrChanged)
	}
	return state.Semaphore, nil
}

// stopOther ends another session, which must have no protection key. It attaches to that session with a higher sequence
// number than its owner ever has, so that the owner cannot attach in between.
func stopOther(ctx context.Context, s *Session, client *Client, session uint64) error {
	conn, err := client.conn(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rpc, err := Ydb_Coordination_V1.NewCoordinationServiceClient(conn).Session(ctx)
	if err != nil {
		return callError(err)
	}
	_, err = start(rpc, &pb.SessionRequest_SessionStart{
		Path: s.path, SessionId: session, TimeoutMillis: uint64(takenFor / time.Millisecond), Description: s.description, SeqNo: math.MaxUint64,
	})
	switch status := statusOf(err); {
	case status == Ydb.StatusIds_SESSION_EXPIRED:
		return fmt.Errorf("%w: the session has ended", coord.ErrChanged)
	case status == Ydb.StatusIds_BAD_SESSION:
		return fmt.Errorf("%w: the session is protected by a key, so nothing was released, but its connection may have been cut: %w", coord.ErrRefused, err)
	case status != Ydb.StatusIds_STATUS_CODE_UNSPECIFIED:
		return err
	case err == nil:
		err = stopped(rpc)
	}
	if err != nil {
		return fmt.Errorf("%w: if it was attached to, it ends within %v: %w", coord.ErrUncertain, 3*takenFor, err)
	}
	return nil
}

// stopped stops the session of a stream, and waits for the answer.
func stopped(rpc Ydb_Coordination_V1.CoordinationService_SessionClient) error {
	if err := rpc.Send(stopMessage()); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for {
		msg, err := rpc.Recv()
		switch {
		case err != nil:
			return callError(err)
		case msg.GetSessionStopped() != nil:
			return nil
		case msg.GetFailure() != nil:
			return failureError(msg.GetFailure().GetStatus(), msg.GetFailure().GetIssues())
		}
	}
}

// recreate deletes a semaphore that m owns and creates it again, with its limit and its data.
func recreate(ctx context.Context, s *Session, name string, m SemaphoreMember) error {
	sem, err := stillOwned(ctx, s, name, m)
	switch {
	case err != nil:
		return err
	case sem.Ephemeral:
		return fmt.Errorf("%w: it is ephemeral, and so cannot be deleted", coord.ErrUnsupported)
	}
	// This creates nothing, because the semaphore exists, but shows whether we have the right to write.
	switch err := s.create(ctx, name, sem.Limit, sem.Data); {
	case err == nil:
		return fmt.Errorf("%w: it was deleted meanwhile, and was created again", coord.ErrChanged)
	case statusOf(err) != Ydb.StatusIds_ALREADY_EXISTS:
		return err
	}
	if sem, err = stillOwned(ctx, s, name, m); err != nil {
		return err
	}
	err = s.Delete(ctx, name, true)
	switch {
	case errors.Is(err, coord.ErrNotFound):
		return fmt.Errorf("%w: it was deleted meanwhile", coord.ErrChanged)
	case errors.Is(err, coord.ErrRefused):
		return err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), recreateFor)
	defer cancel()
	if err != nil {
		if state, readErr := s.Look(late, name); readErr != nil || !state.Absent {
			return fmt.Errorf("%w: %w", coord.ErrUncertain, errors.Join(err, readErr))
		}
	}
	if err := s.create(late, name, sem.Limit, sem.Data); err != nil && statusOf(err) != Ydb.StatusIds_ALREADY_EXISTS {
		return fmt.Errorf("%w: it was deleted and may not exist now: create it with the limit %d: %w", coord.ErrUncertain, sem.Limit, err)
	}
	return nil
}
