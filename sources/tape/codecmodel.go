package tape

import (
	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

func packTerm(c *codec, f *pack.Fields, v, was *sources.Term) {
	pack.Struct(f, &v.Owner, &was.Owner, c, packOwnerRef)
	pack.Number(f, &v.Hue, was.Hue)
	pack.Enum(f, &v.Cause, was.Cause, sources.CauseSession)
	pack.Enum(f, &v.How, was.How, sources.Ours)
	hashed(c, f, &v.Program, was.Program)
	pack.Struct(f, &v.Start, &was.Start, c, packStamp)
	pack.Struct(f, &v.End, &was.End, c, packStamp)
	f.Time(&v.Sure, was.Sure)
	pack.Signed(f, &v.Every, was.Every)
}

func packLevels(c *codec, f *pack.Fields, v, was *sources.Counted) {
	pack.List(f, &v.Past, was.Past, c, packLevel)
	pack.Struct(f, &v.Last, &was.Last, c, packLevel)
	pack.Pointer(f, &v.Owners, c, packOwnerTerms)
}

func packOwnerTerms(c *codec, f *pack.Fields, v, was *sources.OwnerTerms) {
	pack.List(f, &v.Past, was.Past, c, packTerm)
	pack.List(f, &v.Running, was.Running, c, packTerm)
	f.Time(&v.Since, was.Since)
}

func packLevel(_ *codec, f *pack.Fields, v, was *sources.Level) {
	f.Time(&v.At, was.At)
	pack.Number(f, &v.Taken, was.Taken)
	pack.Number(f, &v.High, was.High)
	f.Flag(&v.Gone, was.Gone)
}

func packActivity(c *codec, f *pack.Fields, v, was *sources.Activity) {
	pack.Signed(f, &v.Minute, was.Minute)
	var counts []uint64 // for each minute with a count: its index, changes, losses
	for i := range v.Changes {
		if v.Changes[i]|v.Losses[i] != 0 {
			counts = append(counts, uint64(i)<<16|uint64(v.Changes[i])<<8|uint64(v.Losses[i]))
		}
	}
	pack.Plain(f, &counts, nil, c, (*codec).Uint)
	if c.Reading() {
		for _, count := range counts {
			i := count >> 16 % uint64(len(v.Changes))
			v.Changes[i], v.Losses[i] = uint8(count>>8), uint8(count)
		}
	}
	f.Flag(&v.Cut, was.Cut)
}

func packDarkList(c *codec, f *pack.Fields, v, was *sources.DarkList) {
	pack.List(f, &v.List, was.List, c, packDark)
}

func packDark(_ *codec, f *pack.Fields, v, was *sources.Dark) {
	f.Time(&v.From, was.From)
	f.Time(&v.To, was.To)
}

func packVacancy(_ *codec, f *pack.Fields, v, was *sources.Vacancy) {
	pack.Signed(f, &v.Slot, was.Slot)
	pack.Number(f, &v.Gen, was.Gen)
}

func packExpectation(c *codec, f *pack.Fields, v, was *sources.Expectation) {
	pack.Struct(f, &v.Ending, &was.Ending, c, packEnding)
	pack.Signed(f, &v.Until, was.Until)
}

func packHubSource(c *codec, f *pack.Fields, v, was *sources.SourceFacts) {
	pack.Struct(f, &v.SourceStatus, &was.SourceStatus, c, packStatus)
	pack.Signed(f, &v.SilenceLimit, was.SilenceLimit)
	pack.Signed(f, &v.RowCount, was.RowCount)
	pack.Struct(f, &v.Outage, &was.Outage, c, packOutage)
}

func packStatus(c *codec, f *pack.Fields, v, was *sources.SourceStatus) {
	f.Text(&v.Name, was.Name)
	f.Word(&v.Type, was.Type)
	f.Text(&v.Address, was.Address)
	pack.Enum(f, &v.Health, was.Health, sources.HealthStale)
	c.fault(f, &v.Err, was.Err)
	f.Time(&v.Retry, was.Retry)
	pack.Signed(f, &v.Rows, was.Rows)
	pack.Signed(f, &v.Agree, was.Agree)
}

func packOutage(c *codec, f *pack.Fields, v, was *sources.Outage) {
	pack.Plain(f, &v.Reasons, was.Reasons, c, (*codec).Text)
	f.Text(&v.Latest, was.Latest)
	f.Text(&v.Returning, was.Returning)
	pack.Signed(f, &v.Failures, was.Failures)
}

func packScope(c *codec, f *pack.Fields, v, was *sources.ScopeFacts) {
	pack.Struct(f, &v.Scope, &was.Scope, c, packShownScope)
	pack.Signed(f, &v.Index, was.Index)
	pack.Signed(f, &v.Answered, was.Answered)
	f.Flag(&v.Listed, was.Listed)
	f.Time(&v.CompleteUntil, was.CompleteUntil)
	f.Time(&v.Lost, was.Lost)
	f.Flag(&v.InDark, was.InDark)
	c.fault(f, &v.Err, was.Err)
	pack.Struct(f, &v.Outage, &was.Outage, c, packOutage)
}

func packShownScope(c *codec, f *pack.Fields, v, was *sources.Scope) {
	f.Text(&v.Source, was.Source)
	f.Text(&v.Name, was.Name)
	pack.Enum(f, &v.Health, was.Health, sources.HealthStale)
	f.Flag(&v.Synced, was.Synced)
	f.Time(&v.Alive, was.Alive)
	pack.Signed(f, &v.Silence, was.Silence)
	pack.Struct(f, &v.About, &was.About, c, packAbout)
	f.Time(&v.Since, was.Since)
	pack.List(f, &v.Dark, was.Dark, c, packDark)
	pack.Number(f, &v.Listing, was.Listing)
	pack.List(f, &v.Paces, was.Paces, c, packPace)
}

func packPace(_ *codec, f *pack.Fields, v, was *sources.LookPace) {
	f.Time(&v.From, was.From)
	pack.Signed(f, &v.Every, was.Every)
}
