package redissource

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
)

// owners reads who owns the key, from its value. note says why that cannot be told; it is
// "" where it can.
func owners(r *reading, kind sources.Kind, patterns []*regexp.Regexp) (list []sources.Owner, mode sources.Mode, note string) {
	switch r.shape {
	case missing:
		return nil, sources.Exclusive, ""
	case text:
		if kind == sources.KindSemaphore && isCount(r.head) {
			return nil, sources.Exclusive, "a count of free permits: it does not tell who owns the others"
		}
		return []sources.Owner{textOwner(r, patterns)}, sources.Exclusive, ""
	case table:
		if list, mode := tableOwners(r.fields, patterns); len(list) > 0 {
			return list, mode, ""
		}
		return nil, sources.Exclusive, "a hash, not a string: its owner is unknown"
	case denied:
		return nil, sources.Exclusive, "no right to read it: give the user +pttl +strlen +getrange on this key"
	case moved:
		return nil, sources.Exclusive, "another node of the cluster has it"
	}
	return nil, sources.Exclusive, article(r.typ) + ", not a string"
}

// textOwner reads a value that names its owner, or proves who it is: then only what in it is
// positively a name, or is legible by a pattern, is handed on.
func textOwner(r *reading, patterns []*regexp.Regexp) sources.Owner {
	v := rediscoord.ParseValue(r.head, patterns...)
	o := sources.Owner{ID: v.ID, Label: v.Label, Permits: 1}
	if r.size == len(r.head) {
		o.Guard = rediscoord.Guard(r.head)
	}
	switch {
	case len(v.Data) > 0:
		o.Data = sources.NewBlob(v.Data, r.size-(len(r.head)-len(v.Data)))
	case v.Opaque: // it may prove ownership: only its length is told
		o.Data = sources.Blob{Len: r.size}
	}
	return o
}

func isCount(b []byte) bool {
	_, err := strconv.Atoi(string(b))
	return err == nil
}

// redissonField is how Redisson names an owner in a lock's hash: its client's UUID, the
// thread, and :write in a read-write lock for the writer. Whoever sends it counts as the
// owner, so the UUID is treated as a nonce.
var redissonField = regexp.MustCompile(`^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(\d+)(:write)?$`)

// longestThread is how many digits of a thread's number are shown; a longer one could be drawn
// by lot.
const longestThread = 7

// tableOwners reads a lock of Redisson: a hash of owners with how often each took it, and
// the field mode in a read-write lock. It returns nothing for any other hash.
func tableOwners(fields map[string]string, patterns []*regexp.Regexp) (list []sources.Owner, mode sources.Mode) {
	if fields["mode"] == "read" {
		mode = sources.Shared
	}
	for name, count := range fields {
		if name == "mode" {
			continue
		}
		match := redissonField.FindStringSubmatch(name)
		if match == nil || !isCount([]byte(count)) {
			return nil, sources.Exclusive
		}
		client := rediscoord.ShortID([]byte(match[1]))
		thread := client + "/" + match[2]
		if len(match[2]) > longestThread {
			thread = rediscoord.ShortID([]byte(name))
		}
		label := thread
		if text := rediscoord.Matched(name, patterns); text != "" {
			label = text
		}
		list = append(list, sources.Owner{
			ID: thread + match[3], Session: client, Label: label, Permits: 1, Mode: mode, Guard: rediscoord.FieldGuard(name, count),
			Attrs: []sources.Attr{{Key: "taken", Value: count}},
		})
	}
	slices.SortFunc(list, func(a, b sources.Owner) int { return strings.Compare(a.ID, b.ID) })
	return list, mode
}

// article names a type as Redis calls it.
func article(typ string) string {
	switch typ {
	case "zset":
		return "a sorted set"
	case "":
		return "something"
	}
	if strings.ContainsRune("aeiou", rune(typ[0])) {
		return "an " + typ
	}
	return "a " + typ
}
