package ydbsource

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// node is one coordination node of a link, which is a scope. Only one goroutine uses it.
type node struct {
	link   *link
	state  *nodeState
	about  about
	ping   atomic.Int64 // round trip of the last ping, in nanoseconds
	driver *ydbcoord.Driver
	absent bool      // the last description reports that the node does not exist
	listed time.Time // when the present session had shown everything; zero if not yet
}

const (
	sessionTTL  = 10 * time.Second
	openLimit   = 5 * time.Second
	describeFor = 3 * time.Second
)

// retries has the pauses between two tries to open a session.
var retries = backoff.Policy{Min: 100 * time.Millisecond, Max: 5 * time.Second}

// The reasons why a node is not watched any more.
var (
	errDetached = errors.New("the stream of the session ended")
	errSilent   = errors.New("the session's pings are not answered")
)

// run watches the node until the link ends.
func (n *node) run() error {
	ctx := n.link.Context()
	var err error
	if n.driver, err = n.link.client.Driver(n.state.path, ydbcoord.Options{TTL: sessionTTL}); err != nil {
		return err
	}
	defer n.save()
	pauses := sources.NewPauses(retries)
	for ctx.Err() == nil {
		began := time.Now()
		n.listed = time.Time{}
		err := n.session(ctx)
		if ctx.Err() != nil {
			break
		}
		life := sources.Life{Began: began, Listed: n.listed, Ended: time.Now()}
		err = n.explain(err)
		if told := n.failed(err); told != nil {
			return told
		}
		if !answered(err) {
			_ = n.link.ping() // else the next session could use the same silent host
		}
		_ = n.link.source.Rest(ctx, pauses.After(life, err), &n.state.refresh, nil, nil) // the loop checks ctx
	}
	return nil
}

// session opens a session and watches with it until it is over. It returns the reason.
func (n *node) session(ctx context.Context) error {
	open, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	s, err := n.driver.Observe(open, observer)
	if err != nil {
		return err
	}
	err = n.keep(ctx, s)
	n.leave(s, err)
	return err
}

// keep watches with a session until it is over.
func (n *node) keep(ctx context.Context, s *ydbcoord.Session) error {
	if err := n.settings(ctx); err != nil {
		return err
	}
	for {
		statusChanged := s.StatusChanged()
		if info := s.Status(); info.Attached {
			n.link.up(n.state.path)
			if err := n.attached(ctx, s, statusChanged); !errors.Is(err, errDetached) {
				return err
			}
			if err := n.outage(s.Status()); err != nil {
				return err
			}
			continue
		}
		select {
		case <-statusChanged:
		case <-s.Done():
			return s.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave ends a session. If the service does not answer, it ends the session by itself later.
func (n *node) leave(s *ydbcoord.Session, why error) {
	if s.Status().Attached && !errors.Is(why, errSilent) {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		if s.Close(ctx) == nil {
			return
		}
	}
	s.Abandon()
}

func (n *node) description(ctx context.Context) (ydbcoord.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, describeFor)
	defer cancel()
	return n.link.client.Nodes().Describe(ctx, n.state.path)
}

// settings reads the node's own description.
func (n *node) settings(ctx context.Context) error {
	d, err := n.description(ctx)
	n.about.read(d, err)
	n.absent = noSuchNode(err)
	if err == nil {
		n.state.incarnation = d.Incarnation
	}
	if err != nil && !answered(err) {
		return err
	}
	return nil
}

// outage publishes that the rows are stale from now on.
func (n *node) outage(info ydbcoord.Status) error {
	if info.Attached { // attached again, so the start of the outage is unknown
		return n.gap(time.Time{})
	}
	why := info.Err
	if answeredWith(why, Ydb.StatusIds_NOT_FOUND) {
		why = notFound(n.state.path, why)
	}
	n.link.lost(n.state.path, fmt.Errorf("%w: %w", errDetached, why))
	return n.gap(info.Heard)
}

// gap publishes, once in an outage, that continuity is lost. heard is the time of the service's last answer.
func (n *node) gap(heard time.Time) error {
	if !n.state.loseTrack() {
		return nil
	}
	return n.send(sources.Change{Relists: true, At: heard})
}

// explain returns a sentence about the missing right if the node refuses us. It explains other errors as errors of the
// server.
func (n *node) explain(err error) error {
	if answeredWith(err, Ydb.StatusIds_UNAUTHORIZED) {
		return sources.Final(err, "no right to use the coordination node %s: grant select_row on it, or name another", format.Clean(n.state.path, 200))
	}
	return err
}

// failed publishes why there is no session.
func (n *node) failed(err error) error {
	if answeredWith(err, Ydb.StatusIds_NOT_FOUND) {
		// A session may also get this answer while its tablet moves, so that only the description is a proof.
		if _, bad := n.description(n.link.Context()); noSuchNode(bad) {
			return n.missing()
		}
		err = notFound(n.state.path, err)
	}
	n.link.lost(n.state.path, err)
	sentence := Explain(err, n.link.source.o.Client, true)
	n.about.failed(sentence)
	if err := n.gap(time.Time{}); err != nil {
		return err
	}
	c := sources.Change{About: n.about.changed(n)}
	if errors.Is(sentence, sources.ErrRefused) {
		c.Down = sentence
	}
	return n.send(c)
}

// notFound returns a sentence about this answer to a session, which does not prove that the node does not exist.
func notFound(path string, err error) error {
	return sources.Final(err, "the service answers NOT_FOUND to a session on the coordination node %s, which is not known to be gone: trying again",
		format.Clean(path, 200))
}

// noSuchNode reports whether an error of a description proves that the node does not exist.
func noSuchNode(err error) bool {
	return answeredWith(err, Ydb.StatusIds_NOT_FOUND) || answeredWith(err, Ydb.StatusIds_SCHEME_ERROR)
}

// missing publishes that the coordination node does not exist, nor does anything in it.
func (n *node) missing() error {
	n.link.up(n.state.path)
	n.about.missing()
	if !n.state.missing {
		if err := n.gap(time.Time{}); err != nil {
			return err
		}
	}
	c := n.state.nothing(time.Now())
	c.About = n.about.changed(n)
	n.link.Answered(n.state.path, time.Now())
	return n.send(c)
}

// sendUnread publishes the rows to be read, as not read yet.
func (n *node) sendUnread() error {
	if n.about.watched(); len(n.state.names) == 0 {
		n.about.described()
	}
	n.state.begin()
	return n.send(sources.Change{Relists: true, Set: n.state.unread(), About: n.about.changed(n)})
}

func (n *node) send(c sources.Change) error {
	c.Scope = n.state.path
	if c.Synced {
		n.listed = time.Now()
	}
	if c.About == nil && len(c.Set) == 0 && len(c.Gone) == 0 && len(c.Unseen) == 0 && !c.Relists && !c.Synced && c.Down == nil {
		return nil
	}
	return n.link.Send(c)
}

// describes has the pauses between two looks at a node without names.
var describes = backoff.Policy{Min: 10 * time.Second, Max: 10 * time.Second}

// describe publishes the existence and the settings of a node without named semaphores.
func (n *node) describe() error {
	ctx := n.link.Context()
	pauses := describes.Start()
	for {
		var c sources.Change
		err := n.settings(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			n.link.lost(n.state.path, err)
		default:
			n.link.up(n.state.path)
			n.link.Answered(n.state.path, time.Now())
			c.Synced = n.state.complete()
			n.about.described()
			if n.absent {
				n.about.missing()
			}
		}
		c.About = n.about.changed(n)
		if err := n.send(c); err != nil {
			return err
		}
		_ = n.link.source.Rest(ctx, pauses.Next(), &n.state.refresh, nil, nil) // the loop checks ctx
		if n.state.reload(ctx); len(n.state.names) > 0 {
			return n.run()
		}
	}
}
