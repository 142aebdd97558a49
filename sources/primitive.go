package sources

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"hash/maphash"
	"math"
	"strconv"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/mask"
)

// Ref is the identity of a primitive. Space is the YDB node path, the Redis
// database, the Postgres database or the dflockd server.
type Ref struct{ Source, Space, Name string }

// Compare orders by source, then by space, then by name: see cmp.Compare.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Source, o.Source), cmp.Compare(r.Space, o.Space), cmp.Compare(r.Name, o.Name))
}

// Kind is the kind of a primitive: an attribute, configured or guessed, not part of the identity.
// Mode is the way in which an owner shares the primitive. Recordings contain their numbers.
type (
	Kind = coord.Kind
	Mode = coord.Mode
)

// The kinds and modes.
const (
	KindUnknown   = coord.KindNone
	KindElection  = coord.KindElection
	KindMutex     = coord.KindMutex
	KindSemaphore = coord.KindSemaphore
	Exclusive     = coord.Exclusive
	Shared        = coord.Shared
)

// KindNamed returns the kind whose String is name, or KindUnknown.
func KindNamed(name string) Kind { return coord.KindNamed(name) }

// NoLimit as a Limit means that any number may own it.
const NoLimit = ^uint64(0)

// Permits converts a number of permits, or a limit, for display; -1: without a limit.
func Permits(n uint64) int64 {
	if n > math.MaxInt64 {
		return -1
	}
	return int64(n)
}

// Primitive is one named mutex, semaphore or election as a source last saw it. A source never
// changes a Primitive that it has sent; neither does the Hub, which completes a copy.
type Primitive struct {
	Ref
	Kind      Kind
	LimitHow  Known // Inferred where only the name suggests that it is a lock: see Guessed
	OwnersHow Known // Told with no Owners: nobody owns it; Unknown with no Owners: the owners are unknown
	AliasHow  Known // of Alias: Told by the configuration or the server, Inferred where only the number suggests it

	Ephemeral    bool
	Expected     bool // configured as: must always have an owner
	Absent       bool // the server reports that it does not exist: a row that is configured and stays. It has no owner
	NoSpace      bool // it is Absent because its Space does not exist
	Limit, Taken uint64
	Owners       []Owner
	Queue        Queue
	Candidates   []Waiter // seen or probable: pollers, former owners
	Data         Blob
	At           time.Time // of the read, on our clock; zero: configured and not read yet
	Incarnation  string    // of the server; part of every owner's identity
	Note         string    // the reason why it cannot be read as a lock ("a list, not a string"); "": it can
	Labels       []Attr    // of the source, for the filter, and last NoTTLLabel and FormatLabel's

	// Alias is a readable name for a primitive whose name is only a number: from the
	// configuration, or of a lock that a well-known program takes ("Prisma Migrate", "likely
	// Airflow or Coder"). "": none is known.
	Alias string

	// ForgetAfter marks a primitive that exists only while it is owned (a Redis key, a
	// Postgres lock): after that time without an owner the Hub drops the row without an
	// event. 0: it exists by itself and stays until the source reports it Gone.
	ForgetAfter time.Duration
}

// The keys of FormatLabel: the library is known, or others write the same.
const (
	formatLabel       = "format"
	likelyFormatLabel = "likely_format"
)

// FormatLabel returns the label of a primitive in the format of that library ("Redisson
// fair lock"); how is Inferred where others write the same, else Told.
func FormatLabel(library string, how Known) Attr {
	if how == Inferred {
		return Attr{Key: likelyFormatLabel, Value: library}
	}
	return Attr{Key: formatLabel, Value: library}
}

// Format returns the library of FormatLabel, and how it is known. "": none is known, or the
// backend has only one format.
func (p *Primitive) Format() (library string, how Known) {
	if len(p.Labels) == 0 {
		return "", Unknown
	}
	switch last := p.Labels[len(p.Labels)-1]; last.Key {
	case formatLabel:
		return last.Value, Told
	case likelyFormatLabel:
		return last.Value, Inferred
	}
	return "", Unknown
}

// NamesLibrary reports whether FormatLabel or NoTTLLabel made the label: its value is no name of the user's.
func (a Attr) NamesLibrary() bool {
	return a.Key == formatLabel || a.Key == likelyFormatLabel || a.Key == noTTLLabel
}

// NoTTLLabel returns the label, before FormatLabel's, of a primitive of a library that gives its locks
// no TTL by design, so that its owner is not to blame.
func NoTTLLabel() Attr { return Attr{Key: noTTLLabel, Value: "by design"} }

const noTTLLabel = "no_ttl"

// NoTTLByDesign reports whether the library that keeps p gives its locks no TTL, see NoTTLLabel.
func (p *Primitive) NoTTLByDesign() bool {
	last := len(p.Labels) - 2
	return last >= 0 && p.Labels[last] == NoTTLLabel()
}

// Owner is one owner. In two looks with nothing dark between them, owners of one incarnation with
// the same ID and Fence are the same term; a Fence of 0 is not known yet and equals every other.
// Over darkness that is a doubt: see the package comment.
type Owner struct {
	ID, Session, Label string // Session: the ownership ends with it; "": with no session, as in Redis
	Permits, Fence     uint64 // Permits 0: 1; Fence 0: none known
	Mode               Mode
	Idle               Idle          // of its session
	NoExpiry           bool          // the backend reports no end of it (a key without TTL, a session)
	Rhythm             Rhythm        // of its renewals; set by the Hub only
	Serial             uint16        // distinguishes ownerships of one ID, where the backend numbers them; 0: it does not
	Program            Program       // 0: unknown, its label stands for it
	Lease              time.Duration // full length; 0: unknown

	// Proof is a hash of a value that is new with each grant, or changes if another owner comes in
	// between: if it is equal and not 0 in two looks at one owner, the grant was the same all the
	// time. It reveals nothing about a nonce. A source sends a look at which it differs. 0: there is
	// no such value; beside a Fence none is needed.
	Proof uint64

	// Since and Renewed may be left unknown by a source that is not told them: then the Hub fills
	// in what it saw. Expires should carry the doubt of its reading: the lease ends in
	// (After, At], where the remaining time was read between sending and receiving.
	Since, Expires, Renewed Stamp

	Data  Blob
	Attrs []Attr
	Guard string // compared by compare-and-act; "" where the backend has none
}

// ProofOf makes a Proof of a nonce that is new with each grant.
func ProofOf(nonce []byte) uint64 {
	sum := sha256.Sum256(nonce)
	return max(binary.LittleEndian.Uint64(sum[:]), 1)
}

// BySession reports whether the ownership ends with the session and has no other end.
func (o *Owner) BySession() bool {
	return o.Session != "" && (o.NoExpiry || o.Expires.How == Unknown && o.Lease == 0)
}

// Endless reports whether the ownership has no known end: no lease, and no session.
func (o *Owner) Endless() bool { return o.NoExpiry && o.Session == "" }

// ProgramOf makes a Program of identifying texts, such as the name of an application and
// the address of its client; 0 where all are empty.
func ProgramOf(parts ...string) Program {
	sum, some := fnv.New32a(), false
	for _, p := range parts {
		_, _ = sum.Write([]byte(p)) // it never fails
		_, _ = sum.Write([]byte{0})
		some = some || p != ""
	}
	if !some {
		return 0
	}
	return Program(max(sum.Sum32(), 1))
}

// Queue has the waiters, as far as they are known.
type Queue struct {
	How Known // of the order: Told by the server, or Inferred. Unknown: this backend reports no queue

	// CandidatesHow is the Known of the list Primitive.Candidates. Unknown: the list may be
	// incomplete, because a program that tries now and then without waiting is not seen; then
	// an empty list does not mean that nobody campaigns.
	CandidatesHow Known

	Len     int
	At      time.Time // of the read
	Waiters []Waiter  // in the order in which they will be served, see How; may be shorter than Len
}

// Waiter is one waiter or candidate.
type Waiter struct {
	ID, Session, Label string
	Mode               Mode
	Permits, Order     uint64
	Turn               int // waiters with the same turn are served together, 1 first; 0: unknown
	Since              Stamp
	Timeout            time.Duration // 0: unknown or none
	Data               Blob
	Attrs              []Attr
	Guard              string
}

// Attr is a fact of a backend under its own name.
type Attr struct {
	Key, Value string
	Odd        bool // it is unusual: a person should look at it
}

// The keys of the attributes that an OwnerRule gives an owner, waiter or candidate.
const (
	HostAttr    = "host"
	ProgramAttr = "program"
)

// AttrOf returns the value of the first attribute with a key; "": there is none.
func AttrOf(list []Attr, key string) string {
	for i := range list {
		if list[i].Key == key {
			return list[i].Value
		}
	}
	return ""
}

// Idle reports whether, and how, an owner is idle: its session does no work.
type Idle uint8

// The ways to be idle.
const (
	NotIdle           Idle = iota // or unknown
	IdleSession                   // its session waits for the program's next command
	IdleInTransaction             // the same within an open transaction
)

// Limited reports whether Limit is known to bound the taken permits.
func (p *Primitive) Limited() bool {
	return counted(p) && p.Limit > 0 && p.Limit != NoLimit
}

// Guessed reports whether only the name suggests that this is a lock: it is not in the
// configuration, and its value is of no known library.
func (p *Primitive) Guessed() bool { return p.LimitHow == Inferred }

// MaybeMisspelt returns a sentence that asks whether the name is misspelt, for a primitive that exists
// only while it is owned and has no owner. "": the server has the name, or may have it.
func (p *Primitive) MaybeMisspelt() string {
	switch free := len(p.Owners) == 0 && p.Queue.Len == 0 && ownersKnown(p); {
	case !free || p.ForgetAfter == 0:
		return ""
	case p.Kind == KindElection:
		return "the server has nothing of this name: is it misspelt?"
	case p.ForgetAfter == math.MaxInt64: // it was named, and not found
		return "free, or misspelt: nobody owns anything of this name"
	}
	return ""
}

// BlobHead is the number of bytes that are kept of a value.
const BlobHead = 4096

// Blob is the beginning of a value that may be huge. With a Len and no Head it is a secret
// of which only the length is shown.
type Blob struct {
	Head string // at most BlobHead bytes, secrets masked: not cleaned for a terminal, perhaps not UTF-8
	Len  int    // of the whole value as it is shown, in bytes
	Sum  uint64 // of the bytes that were read; equal sums count as equal data. With masked secrets, comparable in one run only
}

// NewBlob keeps the beginning of a value of size bytes; data are the bytes that were read. It copies
// what it keeps, without the secrets that internal/ground/mask finds; values that differ only in secrets have
// different Sums.
func NewBlob(data []byte, size int) Blob {
	if size == 0 {
		return Blob{}
	}
	head := data[:min(len(data), BlobHead)]
	shown := mask.Text(string(head))
	sum := PlainSum(shown, size)
	if shown != string(head) { // a short secret could be found by a plain sum
		keyed := new(maphash.Hash)
		keyed.SetSeed(sumSeed)
		sum = sumOf(keyed, string(head), size)
	}
	size += len(shown) - len(head)
	return Blob{Head: shown[:min(len(shown), BlobHead)], Len: size, Sum: sum}
}

// PlainSum returns the Sum of a value of size bytes that begins with head and has no secrets.
func PlainSum(head string, size int) uint64 { return sumOf(fnv.New64a(), head, size) }

func sumOf(h hash.Hash64, head string, size int) uint64 {
	_, _ = h.Write([]byte(head)) // it never fails
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	return h.Sum64()
}

// sumSeed is another one in each run.
var sumSeed = maphash.MakeSeed()

// changed reports whether b is other data than before. A Sum of 0 is unknown.
func (b Blob) changed(before Blob) bool {
	return b.Len != before.Len || b.Sum != before.Sum && b.Sum != 0 && before.Sum != 0
}

// Masked reports whether a part of the value is masked because it is a secret.
func (b Blob) Masked() bool { return mask.Masked(b.Head) }

// Shows reports whether NewBlob makes b of data.
func (b Blob) Shows(data []byte) bool {
	return b == NewBlob(data, len(data))
}

// quotedBytes bounds the part of a value that an event's Detail quotes.
const quotedBytes = 120

// quoted returns the beginning of b as a Go string literal, without control characters.
func (b Blob) quoted() string {
	head := b.Head[:min(len(b.Head), quotedBytes)]
	if len(head) < b.Len {
		return fmt.Sprintf("%q... (%d bytes)", head, b.Len)
	}
	return strconv.Quote(head)
}
