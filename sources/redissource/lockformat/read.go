package lockformat

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/lazy"
	"coordtop/internal/ground/legible"
	"coordtop/sources"
)

// Options has the configuration of a key.
type Options struct {
	Kind    sources.Kind // KindUnknown: not configured
	Legible []*regexp.Regexp

	// Counted reports whether the taken permits of the semaphore were read before, so that an empty set means that all
	// are free.
	Counted bool
}

// Lock is the lock that a key and its companions show.
type Lock struct {
	Format  *Format // nil if unknown
	Program string  // "" if unknown
	Kind    sources.Kind
	Mode    sources.Mode
	Owners  []sources.Owner
	Limit   uint64 // 0 if unknown, or if kind and mode decide
	Queue   sources.Queue
	Note    string // why the owners are unknown; "" if they are known
	OwnEnds bool   // the key does not end with its owners
	Likely  bool   // Program is only likely, because others write the same
	Guess   bool   // only the name, or the value alone, suggests that it is a lock

	key string // name of the key
}

// Read interprets a key that exists. beside has the contents of the format's Companions, in their order; it is nil if
// they were not read. The owners are sorted by their IDs.
func Read(key string, c *Content, beside []Content, o Options) Lock {
	_, word := Word(key)
	f := Find(key, c, o.Kind)
	l := Lock{Format: f, Kind: cmp.Or(o.Kind, word), Guess: true, key: key}
	read := (*Lock).readUnknown
	if f != nil {
		l.Kind = cmp.Or(o.Kind, f.Kind, word, sources.KindMutex)
		l.Program, l.Likely, l.Guess = f.Program, !f.Certain, f.Weak && word == sources.KindUnknown
		if read = f.read; read == nil {
			read = (*Lock).readText
		}
	}
	read(&l, c, beside, o)
	slices.SortFunc(l.Owners, func(a, b sources.Owner) int { return strings.Compare(a.ID, b.ID) })
	if f != nil && f.Nonce && len(l.Owners) == 1 {
		l.Owners[0].Proof = sources.ProofOf(c.Text)
	}
	return l
}

// readUnknown reads a key of unknown format.
func (l *Lock) readUnknown(c *Content, _ []Content, o Options) {
	switch {
	case c.Type == String:
		l.readText(c, nil, o)
	case c.Type == Hash && c.Size >= 0:
		l.Note = "a hash, not a string: its owner is unknown"
	case c.Type == SortedSet && l.Kind == sources.KindSemaphore && c.Size == len(c.Members):
		l.readMembers(c, nil, o)
	default:
		l.Note = cmp.Or(types[c.Type], "something else") + ", not a string"
	}
}

// readText reads a value that stands for the only owner: a name, a nonce, or another text.
func (l *Lock) readText(c *Content, _ []Content, o Options) {
	if l.Kind == sources.KindSemaphore && isCount(string(c.Text)) {
		l.Note = "a count of free permits: it does not tell who owns the others"
		return
	}
	l.Owners = []sources.Owner{textOwner(l.key, c, o.Legible)}
}

// Nobody is the label of an owner whose value has no name.
const Nobody = "?"

// textOwner returns the owner that a value stands for. It shows only text that is positively a name or matches a
// pattern.
func textOwner(key string, c *Content, patterns []*regexp.Regexp) sources.Owner {
	v := rediscoord.OwnerOf(c.Text, patterns...)
	o := sources.Owner{ID: v.ID, Label: v.Label, Permits: 1}
	if c.Size == len(c.Text) {
		o.Guard = rediscoord.Guard(key, c.Text)
	}
	switch {
	case NamesNobody(c.Text) && rediscoord.Matched(string(c.Text), patterns) == "":
		o.Label, o.Program = Nobody, sources.ProgramOf(key, Nobody) // a different program for each lock
		if !v.Opaque {
			o.Attrs = []sources.Attr{{Key: "value", Value: v.Label}}
		}
	case len(v.Data) > 0:
		o.Data = sources.NewBlob(v.Data, c.Size-(len(c.Text)-len(v.Data)))
	case v.Opaque: // it may prove ownership, so only its length is shown
		o.Data = sources.Blob{Len: c.Size}
	}
	return o
}

// readMetadata reads a value of redislock: a nonce, and without a separator a text that the program chose. It shows the
// text only if that is a name.
func (l *Lock) readMetadata(c *Content, _ []Content, o Options) {
	l.readText(c, nil, o)
	if len(c.Text) <= nonceLen || len(l.Owners) == 0 || !strings.HasPrefix(l.Owners[0].Label, "#") {
		return
	}
	if name := legible.Part(string(c.Text[:nonceLen]) + "/" + string(c.Text[nonceLen:])); name != "" {
		l.Owners[0].Label = name
	}
}

// readJob adds the name of the worker of a job of BullMQ.
func (l *Lock) readJob(c *Content, beside []Content, o Options) {
	l.readText(c, nil, o)
	if len(beside) == 0 || len(l.Owners) == 0 {
		return
	}
	if worker := string(beside[0].Text); legible.Name(worker) {
		l.Owners[0].Label = worker
	}
}

// redissonField matches an owner in a lock's hash of Redisson: its client's UUID, the thread, and in a read-write lock
// :write for the writer. The field is enough to release the lock, so that the UUID is treated as a nonce.
var redissonField = lazy.Regexp(`^(` + legible.UUID + `):(\d+)(:write)?$`)

// longestThread is the maximum number of digits of a thread's number that is shown, because a longer one could be
// random.
const longestThread = 7

// redissonOwner returns the owner of a field; id is "" for other fields. The client is no session, because its locks
// stay when it ends.
func redissonOwner(field string, patterns []*regexp.Regexp) (id, label string) {
	match := redissonField().FindStringSubmatch(field)
	if match == nil {
		return "", ""
	}
	thread := rediscoord.ShortID([]byte(match[1])) + "/" + match[2]
	if len(match[2]) > longestThread {
		thread = rediscoord.ShortID([]byte(field))
	}
	return thread + match[3], cmp.Or(rediscoord.Matched(field, patterns), thread)
}

// readRedisson reads a hash and the companions of a fair or a fenced lock. The hash has for each owner the number of
// its takes, and for a read-write lock the field mode.
func (l *Lock) readRedisson(c *Content, beside []Content, o Options) {
	if c.Fields["mode"] == "read" {
		l.Mode = sources.Shared
	}
	for field, count := range c.Fields {
		if _, writes := c.Fields[field+":write"]; field == "mode" || writes { // a writer may also read
			continue
		}
		id, label := redissonOwner(field, o.Legible)
		if id == "" || !isCount(count) {
			l.Owners, l.Mode, l.Format, l.Program, l.Guess = nil, sources.Exclusive, nil, "", true
			l.readUnknown(c, nil, o)
			return
		}
		l.Owners = append(l.Owners, sources.Owner{
			ID: id, Label: label, Permits: 1, Mode: l.Mode, Guard: rediscoord.FieldGuard(l.key, field, count),
			Attrs: []sources.Attr{{Key: "taken", Value: count}},
		})
	}
	if len(beside) == 0 {
		return
	}
	if waiting := beside[atSubscribers]; waiting.Type != "" {
		l.Queue = sources.Queue{How: sources.Inferred, Len: waiting.Size}
	}
	if len(beside) == 1 { // only a read-write lock has one companion
		return
	}
	if fence, err := strconv.ParseUint(string(beside[atFence].Text), 10, 64); err == nil && len(l.Owners) == 1 {
		l.Owners[0].Fence, l.Program = fence, "Redisson fenced lock"
	}
	if queue := beside[atQueue]; queue.Size > 0 {
		l.Program, l.Queue = "Redisson fair lock", fairQueue(&queue, &beside[atDeadlines], o.Legible)
	}
}

// fairQueue returns the queue of a fair lock. Each waiter loses its place at its deadline, by the
// waiter's clock.
func fairQueue(queue, deadlines *Content, patterns []*regexp.Regexp) sources.Queue {
	q := sources.Queue{How: sources.Told, Len: queue.Size}
	until := make(map[string]float64, len(deadlines.Members))
	for _, m := range deadlines.Members {
		until[m.Text] = m.Score
	}
	for i, m := range queue.Members {
		id, label := redissonOwner(m.Text, patterns)
		if id == "" {
			id = rediscoord.ShortID([]byte(m.Text))
			label = id
		}
		w := sources.Waiter{ID: id, Label: label, Permits: 1, Turn: i + 1}
		if score := until[m.Text]; score > 0 {
			w.Attrs = []sources.Attr{{Key: "keeps its place until", Value: clock(score)}}
		}
		q.Waiters = append(q.Waiters, w)
	}
	return q
}

// readPermits reads a count of free permits and, if each permit has an end of its own, the owners of the taken ones.
func (l *Lock) readPermits(c *Content, beside []Content, o Options) {
	l.Program = "Redisson semaphore"
	if len(beside) == 0 {
		l.readText(c, nil, o)
		return
	}
	if waiting := beside[atPermitSubscribers]; waiting.Type != "" {
		l.Queue = sources.Queue{How: sources.Inferred, Len: waiting.Size}
	}
	taken := &beside[atPermits]
	if taken.Size == 0 && !(o.Counted && taken.Type != "") || taken.Size > len(taken.Members) {
		l.readText(c, nil, o)
		return
	}
	l.OwnEnds = true
	for _, m := range taken.Members {
		id := rediscoord.ShortID([]byte(m.Text))
		owner := sources.Owner{ID: id, Label: id, Permits: 1, Guard: rediscoord.MemberGuard(l.key, m.Text)}
		if m.Score < endless {
			owner.Attrs = []sources.Attr{{Key: "ends", Value: clock(m.Score)}}
		}
		l.Owners = append(l.Owners, owner)
	}
	if free, err := strconv.Atoi(string(c.Text)); err == nil && free >= 0 {
		l.Limit = uint64(free + len(l.Owners))
	}
}

// endless is the score of a permit without an end (redisson/redisson,
// RedissonPermitExpirableSemaphore: nonExpirableTimeout).
const endless = 922337203685477

// readUniqueJobs reads the jobs that own the lock, and those that wait for it.
func (l *Lock) readUniqueJobs(c *Content, beside []Content, _ Options) {
	for job, taken := range c.Fields {
		id := rediscoord.ShortID([]byte(job))
		l.Owners = append(l.Owners, sources.Owner{ID: id, Label: "job " + id, Permits: 1, Guard: rediscoord.FieldGuard(l.key, job, taken)})
	}
	l.Limit = 1
	if len(l.Owners) > 1 {
		l.Kind, l.Limit = sources.KindSemaphore, 0
	}
	if len(beside) == 0 {
		return
	}
	l.Queue = sources.Queue{How: sources.Told}
	for _, list := range []Content{beside[atPrimed], beside[atQueued]} { // primed jobs are served first
		l.Queue.Len += list.Size
		for _, m := range list.Members {
			id := rediscoord.ShortID([]byte(m.Text))
			l.Queue.Waiters = append(l.Queue.Waiters, sources.Waiter{ID: id, Label: "job " + id, Permits: 1})
		}
	}
}

// readRuby reads the taken permits, which are numbered from 0 on, and the number of free permits.
func (l *Lock) readRuby(c *Content, beside []Content, _ Options) {
	for permit, since := range c.Fields {
		id := rediscoord.ShortID([]byte(permit))
		if len(permit) <= longestThread && isCount(permit) {
			id = "permit " + permit
		}
		owner := sources.Owner{ID: id, Label: id, Permits: 1, Guard: rediscoord.FieldGuard(l.key, permit, since)}
		if at, err := strconv.ParseFloat(since, 64); err == nil {
			owner.Attrs = []sources.Attr{{Key: "taken at", Value: clock(at * 1000)}}
		}
		l.Owners = append(l.Owners, owner)
	}
	if len(beside) > 0 {
		l.Limit = uint64(len(l.Owners) + beside[0].Size)
	}
}

// readMembers reads a sorted set whose members are owners.
func (l *Lock) readMembers(c *Content, _ []Content, _ Options) {
	permits := map[string]uint64{}
	for _, m := range c.Members {
		if marks[m.Text] {
			continue
		}
		owner := m.Text
		if uuids().MatchString(owner) {
			owner = owner[:uuidLen]
		}
		permits[owner]++
	}
	if l.Kind == sources.KindMutex && !c.has("__write__") {
		l.Mode = sources.Shared
	}
	for nonce, n := range permits {
		v := rediscoord.OwnerOf([]byte(nonce))
		l.Owners = append(l.Owners, sources.Owner{ID: v.ID, Label: v.Label, Permits: n, Mode: l.Mode, Guard: rediscoord.MemberGuard(l.key, nonce)})
	}
}

func isCount(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// types has the names of Redis types for people. The map never changes.
var types = map[Type]string{Hash: "a hash", List: "a list", SortedSet: "a sorted set", "set": "a set", "stream": "a stream"}
