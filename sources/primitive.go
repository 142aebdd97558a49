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

// Compare compares by source, then by space, then by name; see cmp.Compare for the result.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Source, o.Source), cmp.Compare(r.Space, o.Space), cmp.Compare(r.Name, o.Name))
}

// Kind is the kind of a primitive: a configured or guessed attribute, not part of the identity. Mode is the way in
// which an owner shares the primitive. Recordings contain the numbers of both.
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

// NoLimit is a Limit that allows any number of owners.
const NoLimit = ^uint64(0)

// Permits returns a number of permits, or a limit, for display; -1 means no limit.
func Permits(n uint64) int64 {
	if n > math.MaxInt64 {
		return -1
	}
	return int64(n)
}

// Primitive is one named mutex, semaphore or election as a source last saw it. A source never changes a Primitive that
// it has sent; nor does the Hub, which completes a copy.
type Primitive struct {
	Ref
	Kind      Kind
	LimitHow  Known // Inferred if only the name suggests that it is a lock, see Guessed
	OwnersHow Known // if Owners is empty: Told means that nobody owns it, Unknown that the owners are unknown
	AliasHow  Known // of Alias: Told by the configuration or the server, Inferred if only the number suggests it

	Ephemeral    bool
	Expected     bool // configured to always have an owner
	Absent       bool // configured, but the server reports that it does not exist; it has no owner
	NoSpace      bool // Absent because its Space does not exist
	Limit, Taken uint64
	Owners       []Owner
	Queue        Queue
	Candidates   []Waiter // seen or probable: pollers, former owners
	Data         Blob
	At           time.Time // of the read, on our clock; zero if configured but not read yet
	Incarnation  string    // of the server; part of every owner's identity
	Note         string    // the reason why it cannot be read as a lock ("a list, not a string"); "" if it can
	Labels       []Attr    // of the source, for the filter; NoTTLLabel and FormatLabel are last

	// Alias is a readable name for a primitive whose name is only a number: from the configuration, or that of a
	// well-known program's lock ("Prisma Migrate", "likely Airflow or Coder"). "": none is known.
	Alias string

	// ForgetAfter marks a primitive that exists only while it is owned (a Redis key, a Postgres lock): the Hub drops
	// the row, without an event, after that time without an owner. 0: the primitive exists by itself, and the row stays
	// until the source reports it Gone.
	ForgetAfter time.Duration
}

// The keys of FormatLabel, for a known library and for one of several that write the same.
const (
	formatLabel       = "format"
	likelyFormatLabel = "likely_format"
)

// FormatLabel returns the label of a primitive in the format of that library ("Redisson fair lock"); how is Inferred if
// other libraries write the same, else Told.
func FormatLabel(library string, how Known) Attr {
	if how == Inferred {
		return Attr{Key: likelyFormatLabel, Value: library}
	}
	return Attr{Key: formatLabel, Value: library}
}

// Format returns the library of FormatLabel, and how it is known. library is "" if none is known or the backend has
// only one format.
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

// NamesLibrary reports whether FormatLabel or NoTTLLabel made the label, so that its value is no name of the user's.
func (a Attr) NamesLibrary() bool {
	return a.Key == formatLabel || a.Key == likelyFormatLabel || a.Key == noTTLLabel
}

// NoTTLLabel returns the label of a primitive whose library gives its locks no TTL by design, so that its owner is not
// to blame. It stands before FormatLabel.
func NoTTLLabel() Attr { return Attr{Key: noTTLLabel, Value: "by design"} }

const noTTLLabel = "no_ttl"

// NoTTLByDesign reports whether the library that keeps p gives its locks no TTL, see NoTTLLabel.
func (p *Primitive) NoTTLByDesign() bool {
	last := len(p.Labels) - 2
	return last >= 0 && p.Labels[last] == NoTTLLabel()
}

// Owner is one owner. In two looks with nothing dark between them, owners of one incarnation with the same ID and Fence
// are the same term; a Fence of 0 is unknown and equals every other. After darkness the term is in doubt, see the
// package comment.
type Owner struct {
	ID, Session, Label string // the ownership ends with Session; that is "" without sessions, for example in Redis
	Permits, Fence     uint64 // a Permits of 0 means 1; a Fence of 0: none known
	Mode               Mode
	Idle               Idle          // of its session
	NoExpiry           bool          // the backend reports no end of the ownership (a key without TTL, a session)
	Rhythm             Rhythm        // of its renewals; set by the Hub only
	Serial             uint16        // distinguishes ownerships of one ID, if the backend numbers them; else 0
	Program            Program       // 0: unknown, use the label instead
	Lease              time.Duration // full length; 0: unknown

	// Proof is a hash of a value that is new with each grant, or changes if another owner comes in between: If it is
	// equal and not 0 in two looks at one owner, the grant stayed the same. It reveals nothing about a nonce. A source
	// must send each look in which it differs. It is 0 if there is no such value; with a Fence none is needed.
	Proof uint64

	// A source that is not told Since and Renewed may leave them unknown; the Hub then fills in what it saw. Expires
	// should contain the uncertainty of its reading: the lease ends in (After, At], because the remaining time was read
	// at some instant between sending and receiving.
	Since, Expires, Renewed Stamp

	Data  Blob
	Attrs []Attr
	Guard string // compared by compare-and-act; "" if the backend has none
}

// ProofOf returns the Proof for a nonce that is new with each grant.
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

// ProgramOf returns the Program for identifying texts, such as the name of an application and the address of its
// client. It returns 0 if all are empty.
func ProgramOf(parts ...string) Program {
	sum, some := fnv.New32a(), false
	for _, p := range parts {
		_, _ = sum.Write([]byte(p)) // never fails
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

	// CandidatesHow is the Known of Primitive.Candidates. If it is Unknown, the list may be incomplete, because
	// programs that try without waiting are not seen; an empty list then does not mean that nobody campaigns.
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
	Odd        bool // unusual, worth a person's attention
}

// The keys of the attributes that an OwnerRule gives an owner, waiter or candidate.
const (
	HostAttr    = "host"
	ProgramAttr = "program"
)

// The keys of attributes from which causes of problems follow. WrongServer is of an owner, and says on which server
// its programs should look for it; Vacuum is of a waiter, and names the transaction from which on vacuum keeps dead
// rows for it. LockTable and Strays are of About.Config, and Odd if a person should do something: the lock table is
// nearly full; there are keys on the wrong server.
const (
	WrongServer = "wrong server"
	Vacuum      = "keeps dead rows since"
	LockTable   = "lock table"
	Strays      = "keys of another server"
)

// AttrOf returns the value of the first attribute with a key, or "" without such an attribute.
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

// The values of Idle.
const (
	NotIdle           Idle = iota // working, or unknown
	IdleSession                   // its session waits for the program's next command
	IdleInTransaction             // the same within an open transaction
)

// Limited reports whether Limit is known to bound the taken permits.
func (p *Primitive) Limited() bool {
	return counted(p) && p.Limit > 0 && p.Limit != NoLimit
}

// Guessed reports whether only the name suggests that this is a lock, because it is not in the configuration and no
// known library writes such a value.
func (p *Primitive) Guessed() bool { return p.LimitHow == Inferred }

// MaybeMisspelt returns a sentence that asks whether the name is misspelt, for a primitive that exists only while it is
// owned and has no owner. It returns "" if the server has the name, or may have it.
func (p *Primitive) MaybeMisspelt() string {
	switch free := len(p.Owners) == 0 && p.Queue.Len == 0 && ownersKnown(p); {
	case !free || p.ForgetAfter == 0:
		return ""
	case p.Kind == KindElection:
		return "the server has nothing of this name: is it misspelt?"
	case p.ForgetAfter == math.MaxInt64: // named, but not found
		return "free, or misspelt: nobody owns anything of this name"
	}
	return ""
}

// BlobHead is the number of bytes of a value that are kept.
const BlobHead = 4096

// Blob is the beginning of a value that may be huge. If it has a Len but no Head, it is a secret of which only the
// length is shown.
type Blob struct {
	Head string // at most BlobHead bytes, with secrets masked; not cleaned for a terminal, may not be UTF-8
	Len  int    // of the whole value as it is shown, in bytes
	Sum  uint64 // of the bytes that were read; equal sums count as equal data. With masked secrets, comparable only within one run
}

// NewBlob returns a Blob of a value of size bytes; data are the bytes that were read. It copies the beginning, without
// the secrets that internal/ground/mask finds. Values that differ only in secrets have different Sums.
func NewBlob(data []byte, size int) Blob {
	if size == 0 {
		return Blob{}
	}
	head := data[:min(len(data), BlobHead)]
	shown := mask.Text(string(head))
	sum := PlainSum(shown, size)
	if shown != string(head) { // a plain sum would reveal a short secret
		keyed := new(maphash.Hash)
		keyed.SetSeed(sumSeed)
		sum = sumOf(keyed, string(head), size)
	}
	size += len(shown) - len(head)
	return Blob{Head: shown[:min(len(shown), BlobHead)], Len: size, Sum: sum}
}

// WholeBlob returns a Blob whose Head is all of data without its secrets, for one value that a person asks for.
func WholeBlob(data []byte) Blob {
	shown := mask.Text(string(data))
	return Blob{Head: shown, Len: len(shown)}
}

// PlainSum returns the Sum of a value of size bytes that begins with head and has no secrets.
func PlainSum(head string, size int) uint64 { return sumOf(fnv.New64a(), head, size) }

func sumOf(h hash.Hash64, head string, size int) uint64 {
	_, _ = h.Write([]byte(head)) // never fails
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	return h.Sum64()
}

// sumSeed differs in each run.
var sumSeed = maphash.MakeSeed()

// changed reports whether b has other data than before. A Sum of 0 is unknown.
func (b Blob) changed(before Blob) bool {
	return b.Len != before.Len || b.Sum != before.Sum && b.Sum != 0 && before.Sum != 0
}

// Masked reports whether a part of the value is masked because it is a secret.
func (b Blob) Masked() bool { return mask.Masked(b.Head) }

// Shows reports whether NewBlob returns b for data.
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
