package operate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/mute"
)

// Stages of a Record.
const (
	Before = "before" // written before anything is sent
	After  = "after"  // written after the end of the action with the same id
	Only   = "only"   // nothing was sent: writing was armed or disarmed
	Torn   = "torn"   // Detail is the beginning of a line whose writer was killed
)

// Record is one line of the audit. Texts that are not known are left out; times are in
// UTC. Fences are strings, because they pass 2^53.
type Record struct {
	At     time.Time `json:"at"`
	ID     string    `json:"id"` // the same in both lines of an action, and unique otherwise
	Stage  string    `json:"stage"`
	User   string    `json:"user"` // of the operating system
	Host   string    `json:"host"`
	SSH    string    `json:"ssh,omitempty"` // address of the client that the person came from
	Login  string    `json:"login,omitempty"`
	Action string    `json:"action"` // a verb, "arm", "disarm", "note", "acknowledge", "mute", "unmute", or "lost" for a lease that ended by itself

	Source  string `json:"source,omitempty"`
	Address string `json:"address,omitempty"` // of the server of the source, without a login
	Space   string `json:"namespace,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Name    string `json:"name,omitempty"`
	Alias   string `json:"alias,omitempty"` // of a lock whose name is a number

	OwnerBefore string `json:"owner_before,omitempty"`
	LabelBefore string `json:"label_before,omitempty"`
	FenceBefore string `json:"fence_before,omitempty"`
	Mode        string `json:"mode,omitempty"` // "shared" if others may also own it; left out: exclusive
	Reason      string `json:"reason,omitempty"`
	Call        string `json:"call,omitempty"` // what is sent, without proofs of ownership

	Result     string `json:"result,omitempty"` // a phase, such as "done" or "failed"
	Detail     string `json:"detail,omitempty"`
	OwnerAfter string `json:"owner_after,omitempty"`
	LabelAfter string `json:"label_after,omitempty"`
	FenceAfter string `json:"fence_after,omitempty"`
	// LatencyMillis is the time from sending the request to the service's answer, including the wait of a claim.
	LatencyMillis *float64 `json:"latency_ms,omitempty"`

	// Only in a note, whose text is in Detail: the moment that the note is about, and the file of the recording that it
	// belongs to.
	About     time.Time `json:"about,omitzero"`
	Recording string    `json:"recording,omitempty"`

	Mute *mute.Mute `json:"mute,omitempty"` // only of acknowledge, mute and unmute, if the audit is shared
}

// Actor names the person who acts, as far as the machine knows.
type Actor struct {
	User, Host string
	SSH        string // the client's address; "": not over ssh
}

// String returns user@host, with the client's address if the person came over ssh.
func (a Actor) String() string {
	who := a.User
	if a.Host != "" {
		who += "@" + a.Host
	}
	if a.SSH != "" {
		who += " from " + a.SSH
	}
	return who
}

// AuditLog appends Records to a file that several coordtops may share. It is safe for
// concurrent use.
type AuditLog struct {
	file   auditFile
	actor  Actor
	within time.Duration
	team   Team   // nil: the audit is not shared
	run    string // distinguishes the ids of this run from those of others
	last   atomic.Uint64
	turn   chan struct{} // capacity 1: full while a line is on its way to the disk
	stuck  atomic.Bool   // a caller has waited in vain since turn was last taken
}

// writeWithin bounds the time that the disk may take for a line. It is generous, because a busy disk was seen to take
// more than a second, and a person prefers a wait to a refusal. lastWithin is the bound when the program ends. Leases
// must be given back even if a file system without its server blocks the write.
const (
	writeWithin = 5 * time.Second
	lastWithin  = time.Second
)

var errStuck = errors.New("the disk does not answer")

// NewAuditLog makes an AuditLog of the file at an absolute path. The first record makes the file and its folder, so
// that a program that only reads creates no file.
func NewAuditLog(path string, actor Actor) *AuditLog {
	run := strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(os.Getpid())
	file := auditFile{path: path, limit: auditLimit, keep: auditKeep}
	return &AuditLog{file: file, actor: actor, within: writeWithin, run: run, turn: make(chan struct{}, 1)}
}

// Team is the audit of several persons outside this machine. Put and Lines do not block.
type Team interface {
	Put(r Record, who Actor, line []byte) // after the line is in the file
	Lines() []TeamLine                    // of all persons, oldest first, as they were read last
	Close()                               // may wait a little for lines on their way
}

// TeamLine is a line of a Team. By is the writer as the Team knows it, whoever the line names.
type TeamLine struct {
	By   string
	Line string
}

// Share makes Write share its lines, and Entries read those of others. It must be called before both.
func (l *AuditLog) Share(t Team) { l.team = t }

// Close ends the sharing. The last line must be written before.
func (l *AuditLog) Close() {
	if l != nil && l.team != nil {
		l.team.Close()
	}
}

// id returns the id of the next action.
func (l *AuditLog) id() string {
	return l.run + "-" + strconv.FormatUint(l.last.Add(1), 10)
}

// Write appends one line and returns when the disk has it. It fails after five seconds, and from then on at once until
// the disk responds again. When ctx ends, the disk has one second more; ctx also supplies the handler of panics. Each
// line opens the file again, so that the file can be rotated at any time; at 8 MB Write rotates it. The error wraps
// ErrNoAudit. After an error the line may still be written later.
func (l *AuditLog) Write(ctx context.Context, r Record) error {
	if err := l.write(ctx, r); err != nil {
		return fmt.Errorf("%w: %w", ErrNoAudit, err)
	}
	return nil
}

func (l *AuditLog) write(ctx context.Context, r Record) error {
	line, err := l.line(r)
	if err != nil {
		return err
	}
	late := time.NewTimer(l.within)
	defer late.Stop()
	defer spawn.OnDone(ctx, func() { late.Reset(lastWithin) })()
	if err := l.await(late.C); err != nil {
		return err
	}
	done := make(chan error, 1)
	spawn.Go(ctx, nil, func() { // waited for below; after an error it ends with its write or with the process
		err := spawn.Call(ctx, func() error { return l.file.append(line) })
		<-l.turn
		done <- err
	})
	select {
	case err := <-done:
		if err == nil && l.team != nil {
			l.team.Put(r, l.actor, line)
		}
		return err
	case <-late.C:
		l.stuck.Store(true)
		return errStuck
	}
}

// line encodes a record, with the actor and the time.
func (l *AuditLog) line(r Record) ([]byte, error) {
	r.User, r.Host, r.SSH = l.actor.User, l.actor.Host, l.actor.SSH
	if r.At.IsZero() {
		r.At = time.Now().UTC()
	}
	return r.line()
}

// await waits until no other line is on its way to the disk.
func (l *AuditLog) await(late <-chan time.Time) error {
	select {
	case l.turn <- struct{}{}:
	default:
		if l.stuck.Load() {
			return errStuck
		}
		select {
		case l.turn <- struct{}{}:
		case <-late:
			l.stuck.Store(true)
			return errStuck
		}
	}
	l.stuck.Store(false)
	return nil
}

// millis returns a latency in milliseconds, with microsecond precision.
func millis(d time.Duration) *float64 {
	ms := float64(d.Microseconds()) / 1000
	return &ms
}

// line encodes the record as one line of ASCII, because it has texts from outside and people will print it on a
// terminal.
func (r Record) line() ([]byte, error) {
	for _, s := range []*string{&r.Source, &r.Space, &r.Name, &r.OwnerBefore, &r.LabelBefore, &r.OwnerAfter, &r.LabelAfter,
		&r.Reason, &r.Call, &r.Detail, &r.Address, &r.Recording, &r.User, &r.Host, &r.SSH, &r.Login} {
		*s, _ = format.UTF8([]byte(*s))
	}
	return format.JSON(r, func(rune) bool { return false })
}
