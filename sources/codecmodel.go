package sources

import "coordtop/sources/internal/pack"

func packTerm(c *codec, f *pack.Fields, v, was *Term) {
	pack.Struct(f, &v.Owner, &was.Owner, c, packOwnerRef)
	pack.Number(f, &v.Hue, was.Hue)
	pack.Enum(f, &v.Cause, was.Cause, CauseSession)
	pack.Enum(f, &v.How, was.How, Ours)
	hashed(c, f, &v.Program, was.Program)
	pack.Struct(f, &v.Start, &was.Start, c, packStamp)
	pack.Struct(f, &v.End, &was.End, c, packStamp)
	f.Time(&v.Sure, was.Sure)
	pack.Signed(f, &v.Every, was.Every)
}

func packLevels(c *codec, f *pack.Fields, v, was *levels) {
	pack.List(f, &v.past, was.past, c, packLevel)
	pack.Struct(f, &v.last, &was.last, c, packLevel)
	pack.Pointer(f, &v.owners, c, packOwnerTerms)
}

func packOwnerTerms(c *codec, f *pack.Fields, v, was *ownerTerms) {
	pack.List(f, &v.past, was.past, c, packTerm)
	pack.List(f, &v.running, was.running, c, packTerm)
	f.Time(&v.since, was.since)
}

func packLevel(_ *codec, f *pack.Fields, v, was *Level) {
	f.Time(&v.At, was.At)
	pack.Number(f, &v.Taken, was.Taken)
	pack.Number(f, &v.High, was.High)
	f.Flag(&v.Gone, was.Gone)
}

func packActivity(c *codec, f *pack.Fields, v, was *activity) {
	pack.Signed(f, &v.minute, was.minute)
	var counts []uint64 // of the minutes in which something was counted: where it stands, changes, losses
	for i := range v.changes {
		if v.changes[i]|v.losses[i] != 0 {
			counts = append(counts, uint64(i)<<16|uint64(v.changes[i])<<8|uint64(v.losses[i]))
		}
	}
	pack.Plain(f, &counts, nil, c, (*codec).Uint)
	if c.Reading() {
		for _, count := range counts {
			i := count >> 16 % uint64(len(v.changes))
			v.changes[i], v.losses[i] = uint8(count>>8), uint8(count)
		}
	}
	f.Flag(&v.cut, was.cut)
}

func packDarkList(c *codec, f *pack.Fields, v, was *darkList) {
	pack.List(f, &v.list, was.list, c, packDark)
}

func packDark(_ *codec, f *pack.Fields, v, was *Dark) {
	f.Time(&v.From, was.From)
	f.Time(&v.To, was.To)
}

func packVacancy(_ *codec, f *pack.Fields, v, was *vacancy) {
	pack.Signed(f, &v.slot, was.slot)
	pack.Number(f, &v.gen, was.gen)
}

func packExpectation(c *codec, f *pack.Fields, v, was *expectation) {
	pack.Struct(f, &v.Ending, &was.Ending, c, packEnding)
	pack.Signed(f, &v.until, was.until)
}

func packHubSource(c *codec, f *pack.Fields, v, was *hubSourceFacts) {
	pack.Struct(f, &v.SourceStatus, &was.SourceStatus, c, packStatus)
	pack.Signed(f, &v.silence, was.silence)
	pack.Signed(f, &v.rows, was.rows)
	pack.Struct(f, &v.outage, &was.outage, c, packOutage)
}

func packStatus(c *codec, f *pack.Fields, v, was *SourceStatus) {
	f.Text(&v.Name, was.Name)
	f.Word(&v.Type, was.Type)
	f.Text(&v.Address, was.Address)
	pack.Enum(f, &v.Health, was.Health, HealthStale)
	c.fault(f, &v.Err, was.Err)
	f.Time(&v.Retry, was.Retry)
	pack.Signed(f, &v.Rows, was.Rows)
	pack.Signed(f, &v.Agree, was.Agree)
}

func packOutage(c *codec, f *pack.Fields, v, was *outage) {
	pack.Plain(f, &v.reasons, was.reasons, c, (*codec).Text)
	f.Text(&v.latest, was.latest)
	f.Text(&v.returning, was.returning)
	pack.Signed(f, &v.failures, was.failures)
}

func packScope(c *codec, f *pack.Fields, v, was *scope) {
	pack.Struct(f, &v.Scope, &was.Scope, c, packShownScope)
	pack.Signed(f, &v.index, was.index)
	pack.Signed(f, &v.answered, was.answered)
	f.Flag(&v.listed, was.listed)
	f.Time(&v.completeUntil, was.completeUntil)
	f.Time(&v.lost, was.lost)
	f.Flag(&v.dark, was.dark)
	c.fault(f, &v.err, was.err)
	pack.Struct(f, &v.outage, &was.outage, c, packOutage)
}

func packShownScope(c *codec, f *pack.Fields, v, was *Scope) {
	f.Text(&v.Source, was.Source)
	f.Text(&v.Name, was.Name)
	pack.Enum(f, &v.Health, was.Health, HealthStale)
	f.Flag(&v.Synced, was.Synced)
	f.Time(&v.Alive, was.Alive)
	pack.Signed(f, &v.Silence, was.Silence)
	pack.Struct(f, &v.About, &was.About, c, packAbout)
	f.Time(&v.Since, was.Since)
	pack.List(f, &v.Dark, was.Dark, c, packDark)
	pack.Number(f, &v.listing, was.listing)
	pack.List(f, &v.paces, was.paces, c, packPace)
}

func packPace(_ *codec, f *pack.Fields, v, was *lookPace) {
	f.Time(&v.from, was.from)
	pack.Signed(f, &v.every, was.every)
}
