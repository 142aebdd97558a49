package diagnose

import (
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// oneByOne explains the rows that no pattern of several rows has explained.
func (f *finder) oneByOne() {
	for _, c := range f.open() {
		var one Finding
		switch c.problem.Fault {
		case verdict.NoLeader:
			one = f.gone(c)
		case verdict.LongWait, verdict.Full:
			one = f.longWait(c.row)
		case verdict.NoTTL:
			one = f.endless(c)
		case verdict.Late:
			one = f.late(c)
		case verdict.Flapping:
			one = f.flapping(c)
		default: // verdict.Absent: the other faults are explained before
			one = f.absent(c)
		}
		f.explain(one, c)
	}
}

// endless explains a lock that nothing ends.
func (f *finder) endless(c *problemRow) Finding {
	o := &c.row.Owners[slices.IndexFunc(c.row.Owners, func(o sources.Owner) bool { return o.Endless() })]
	one := Finding{Pattern: Endless, Title: f.name(c.row.Ref) + " is owned without an end", Who: f.who(o)}
	one.Reasons = []Reason{{f.where(o) + " owns it" + f.ownedFor(o) + ", and it has no TTL: it stays if its owner dies", Told}}
	if c.row.NoTTLByDesign() {
		library, _ := c.row.Format()
		one.Reasons = append(one.Reasons, Reason{joined(" ", label(library), "never sets one"), Told})
	}
	one.Effect = f.waiting(c.row)
	one.Steps = []Step{{"find out whether " + label(f.labels.OfOwner(o).Name()) + " still works", AtOwner, ""},
		{"release it by force if its owner is gone", AtActions, f.release(c.row, o)}}
	return one
}

// late explains a renewal that is overdue.
func (f *finder) late(c *problemRow) Finding {
	o := slices.MinFunc(owners(c.row), func(a, b *sources.Owner) int { return a.Expires.At.Compare(b.Expires.At) })
	who := f.where(o)
	one := Finding{Pattern: RenewsLate, Title: f.name(c.row.Ref) + ": the renewal of " + who + " is late", Who: f.who(o)}
	text := who + " has not renewed in time"
	if o.Renewed.How != sources.Unknown {
		text += ": last " + format.Age(f.in.Now.Sub(o.Renewed.At)) + " ago"
		if every := o.RenewEvery(); every > 0 {
			text += ", usually every " + format.Precise(every.Round(100*time.Millisecond))
		}
	}
	one.Reasons = append([]Reason{{text, Told}}, possible("it is paused or overloaded", "its way to the server is slow or cut", "it is dead")...)
	if o.Expires.How != sources.Unknown {
		one.Effect = "its lease is over: anybody may take it"
		if left := o.Expires.At.Sub(f.in.Now); left > 0 {
			one.Effect = "its lease ends in " + format.Left(left) + ", and then anybody may take it"
		}
	}
	one.Steps = []Step{{"look at " + who, AtOwner, ""}}
	return one
}

// flapping explains an election that is lost again and again.
func (f *finder) flapping(c *problemRow) Finding {
	within := f.in.Judge.State.Thresholds.FlapWithin
	one := Finding{Pattern: Flapping, Title: f.name(c.row.Ref) + " is lost again and again"}
	losses, owners, expired := f.lostWithin(c.row, within)
	text := format.Count(c.row.Losses(f.in.Now, within)) + " losses in " + format.Age(within)
	if period := usualPause(losses); period > 0 {
		text += ", one about every " + format.Precise(period.Round(100*time.Millisecond))
	}
	one.Reasons = []Reason{{text, Told}}
	if len(owners) > 0 {
		one.Who = owners
		one.Reasons = append(one.Reasons, Reason{"lost by " + format.Some(owners, 3), Told})
	}
	if o := leader(c.row); o != nil && o.Lease > 0 && o.RenewEvery() > 0 && o.RenewEvery() > o.Lease/2 {
		one.Reasons = append(one.Reasons, Reason{"its TTL of " + format.Precise(o.Lease) + " leaves little room: it is renewed every " + format.Precise(o.RenewEvery().Round(100*time.Millisecond)), Inferred})
	} else if expired > 0 {
		one.Reasons = append(one.Reasons, possible("its TTL is shorter than the pauses of its owners", "the server or the network is slow")...)
		if len(owners) > 1 || f.labels.OfName(owners[0]).Host == "" { // else the same process has taken it again
			one.Reasons = append(one.Reasons, possible("a program restarts again and again")...)
		}
	}
	one.Effect = "each loss stops the leader's work until the next one leads"
	one.Steps = []Step{{"see when, and who", AtTimeline, command("history", c.row.Ref.FullName(), "--gaps")}}
	return one
}

// owners returns the owners of a row, of very many the first.
func owners(row *sources.Row) (list []*sources.Owner) {
	for i := range row.Owners[:min(len(row.Owners), mostWaiters)] {
		list = append(list, &row.Owners[i])
	}
	return list
}

// leader returns the only owner of a row; nil: there is not one.
func leader(row *sources.Row) *sources.Owner {
	if len(row.Owners) != 1 {
		return nil
	}
	return &row.Owners[0]
}

// lostWithin returns the ends of the terms that were lost, who lost them, and how many leases ran out.
func (f *finder) lostWithin(row *sources.Row, within time.Duration) (ends []time.Time, owners []string, expired int) {
	for i := range row.Terms {
		t := &row.Terms[i]
		if t.End.How == sources.Unknown || t.End.At.Before(f.in.Now.Add(-within)) || t.Cause == sources.CauseReleased {
			continue
		}
		ends = append(ends, t.End.At)
		if t.Cause == sources.CauseExpired {
			expired++
		}
		if who := label(t.Owner.Name()); !slices.Contains(owners, who) {
			owners = append(owners, who)
		}
	}
	return ends, owners, expired
}

// usualPause returns the pause between losses if they come at regular times; 0: they do not, or they are
// too few.
func usualPause(ends []time.Time) time.Duration {
	if len(ends) < 4 {
		return 0
	}
	var pauses []time.Duration
	for i := range ends[1:] {
		pauses = append(pauses, ends[i+1].Sub(ends[i]))
	}
	slices.Sort(pauses)
	median := pauses[len(pauses)/2]
	if pauses[0] < median*3/4 || pauses[len(pauses)-1] > median*5/4 {
		return 0
	}
	return median
}

// absent explains a primitive that is configured and does not exist.
func (f *finder) absent(c *problemRow) Finding {
	one := Finding{Pattern: Absent, Title: f.name(c.row.Ref) + " does not exist"}
	text := "the server has no " + thing(c.row, 1) + " of this name"
	if c.row.NoSpace {
		text = label(c.row.Space) + " does not exist on the server"
	}
	one.Reasons = append([]Reason{{text, Told}}, possible("its name is misspelt in the config", "its program has not created it yet")...)
	one.Steps = []Step{{"correct the config, or create it", AtActions, ""}}
	return one
}
