package sqlite

import (
	"encoding/binary"
	"time"

	"coordtop/internal/lane"
)

// numbersOf are those of a lane's part as they are stored; they must not be negative.
func numbersOf(p *lane.Part) [14]*int64 {
	d := func(d *time.Duration) *int64 { return (*int64)(d) }
	return [...]*int64{d(&p.Nobody.Min), d(&p.Nobody.Max), d(&p.Nobody.Every), d(&p.Longest.Min), d(&p.Longest.Max), d(&p.Longest.Every),
		d(&p.Head.Touch), d(&p.Head.Unbroken.Min), d(&p.Head.Unbroken.Max), d(&p.Tail.Touch), d(&p.Tail.Unbroken.Min), d(&p.Tail.Unbroken.Max), d(&p.Head.Unbroken.Every), d(&p.Before)}
}

// flagsOf are its marks, from the lowest bit on.
func flagsOf(p *lane.Part) [6]*bool {
	return [...]*bool{&p.Head.Cut, &p.Head.Seen, &p.Tail.Cut, &p.Tail.Seen, &p.Whole, &p.Solid}
}

// encodeParts makes one body of the parts in which something happened, in the order of the lanes.
func encodeParts(parts []lane.Part, lanes []listed) []byte {
	b := []byte{1}
	for i := range parts {
		p := &parts[i]
		if p.Changes == 0 && p.Nobody.Max == 0 && p.Before == 0 {
			continue
		}
		flags := uint64(0)
		for bit, set := range flagsOf(p) {
			if *set {
				flags |= 1 << bit
			}
		}
		for _, n := range [...]uint64{uint64(lanes[i].id), uint64(p.Changes), uint64(p.Gaps), flags} {
			b = binary.AppendUvarint(b, n)
		}
		for _, n := range numbersOf(p) {
			b = binary.AppendUvarint(b, uint64(*n))
		}
	}
	return b
}

// decodeParts calls f with each part of a body.
func decodeParts(b []byte, f func(id int64, p lane.Part)) error {
	bad := len(b) == 0 || b[0] != 1
	next := func() uint64 {
		n, used := binary.Uvarint(b)
		if bad = bad || used <= 0; bad {
			return 0
		}
		b = b[used:]
		return n
	}
	for b = b[min(1, len(b)):]; len(b) > 0 && !bad; {
		id := int64(next())
		p := lane.Part{Sum: lane.Sum{Changes: int(next()), Gaps: int(next())}}
		flags := next()
		for bit, set := range flagsOf(&p) {
			*set = flags>>bit&1 != 0
		}
		for _, n := range numbersOf(&p) {
			*n = int64(next())
		}
		if p.Tail.Unbroken.Every = p.Head.Unbroken.Every; !bad {
			f(id, p)
		}
	}
	if bad {
		return damage("a sum")
	}
	return nil
}
