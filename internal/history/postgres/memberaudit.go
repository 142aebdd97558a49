package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/spawn"
)

// AuditLine is a line of the audit that members share.
type AuditLine struct {
	ID                                                 int64  // of the row
	Who                                                string // the user of the session that wrote it, by the server
	Said                                               string // the person, by the writer
	Source, Space, Name, Action, Reason, Outcome, Line string
}

const (
	auditEvery  = 2 * time.Second // between two reads, and between two attempts to write
	mostLines   = 2000            // that are kept
	mostUnsent  = 1000
	overlap     = 20 // rows before the last one that are read again: a smaller number may be committed later
	longestLine = 64 << 10
)

// Audit is the audit of a team. It writes and reads in a goroutine, so that no method but Close waits for the server.
type Audit struct {
	o      Options
	pool   *Reader
	wake   chan struct{} // capacity 1: there is something to write, or to read for the first time
	wanted atomic.Bool   // List was called
	stop   context.CancelFunc
	joined sync.WaitGroup

	mu     sync.Mutex
	list   []AuditLine // as read last, by ID
	unsent []AuditLine
	err    error
}

// ReadAudit returns the audit in a store as it is now, for its method List only. It needs no Close.
func ReadAudit(ctx context.Context, o Options) (*Audit, error) {
	a := &Audit{o: o, pool: NewReader(o)}
	return a, errors.Join(a.exchange(ctx, true), a.pool.Close())
}

// ShareAudit returns the audit in a store, to which it connects once there is something to write, or List was called.
// Close ends its goroutine.
func ShareAudit(ctx context.Context, o Options) *Audit {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	a := &Audit{o: o, pool: NewReader(o), wake: make(chan struct{}, 1), stop: stop}
	spawn.Go(ctx, &a.joined, func() { a.serve(ctx) })
	return a
}

// Close gives the server two seconds to take the lines that were not written. What is lost then is in the file of the
// person who acted.
func (a *Audit) Close() {
	a.stop()
	a.joined.Wait()
}

// Put writes a line soon. It does not block. Lines beyond mostUnsent are only in the file of the person who acted.
func (a *Audit) Put(act AuditLine) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.unsent) < mostUnsent {
		a.unsent = append(a.unsent, act)
		spawn.Wake(a.wake)
	}
}

// List returns the newest lines of all members, the oldest first, as they were read last, and the last error. Nothing is
// read before the first call.
func (a *Audit) List() ([]AuditLine, error) {
	if !a.wanted.Swap(true) {
		spawn.Wake(a.wake)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list, a.err
}

func (a *Audit) serve(ctx context.Context) {
	timer := time.NewTimer(auditEvery)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-a.wake:
		case <-timer.C:
		}
		a.keep(a.exchange(ctx, a.wanted.Load()))
		timer.Reset(auditEvery)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditEvery)
	defer cancel()
	a.keep(a.exchange(last, false))
	_ = a.pool.Close()
}

func (a *Audit) keep(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

// Unshared returns how many lines are not written, and why.
func (a *Audit) Unshared() (lines int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.unsent), a.err
}

// exchange writes what was put, and reads what others wrote if that is wanted.
func (a *Audit) exchange(ctx context.Context, wanted bool) error {
	a.mu.Lock()
	unsent, list := a.unsent, slices.Clip(a.list) // Insert must copy it, because List returns it
	a.mu.Unlock()
	if ctx.Err() != nil || !wanted && len(unsent) == 0 {
		return ctx.Err()
	}
	conn, _, err := a.pool.acquire(ctx)
	if err != nil {
		return err
	}
	defer a.pool.give(conn)
	s := statements{conn: conn}
	unwritten := a.write(ctx, s, unsent)
	if !wanted || conn.IsClosed() {
		return unwritten
	}
	var after int64
	if len(list) > 0 {
		after = list[len(list)-1].ID - overlap
	}
	if _, err = a.o.begin(ctx, conn, reading, "select 1"); err == nil {
		var act AuditLine
		err = s.Each(ctx, "select id, who, line from (select id, who, line from audit where id > ? and line <> '' and length(line) <= ? order by id desc limit ?) newest order by id",
			[]any{after, longestLine, mostLines}, []any{&act.ID, &act.Who, &act.Line}, func() {
				if i, known := slices.BinarySearchFunc(list, act.ID, func(other AuditLine, id int64) int { return cmp.Compare(other.ID, id) }); !known {
					list = slices.Insert(list, i, act)
				}
			})
	}
	rollback(conn)
	a.mu.Lock()
	a.list = list[max(len(list)-mostLines, 0):]
	a.mu.Unlock()
	return cmp.Or(unwritten, Explained(a.o, err)) // who may not write sees what others wrote
}

// write writes what was put.
func (a *Audit) write(ctx context.Context, s statements, unsent []AuditLine) error {
	if len(unsent) == 0 {
		return nil
	}
	_, err := a.o.begin(ctx, s.conn, writing, "select 1")
	for i := 0; err == nil && i < len(unsent); i++ {
		u := &unsent[i]
		_, err = s.Change(ctx, "insert into audit(who, said, source, space, name, action, reason, outcome, line) values('', ?, ?, ?, ?, ?, ?, ?, ?)",
			u.Said, u.Source, u.Space, u.Name, u.Action, u.Reason, u.Outcome, u.Line)
	}
	if err == nil {
		err = s.commit()
	}
	if err != nil {
		rollback(s.conn)
		return Explained(a.o, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unsent = slices.Clone(a.unsent[len(unsent):])
	return nil
}
