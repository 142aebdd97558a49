package headless

import "coordtop/sources"

// termJSON is an ownership that is over.
type termJSON struct {
	ID         string      `json:"id"`
	Label      string      `json:"label"`
	Fence      *string     `json:"fence" is:"number"`
	Since      *string     `json:"since" is:"time"`
	SinceKnown string      `json:"since_known" is:"known"`
	SinceAfter *string     `json:"since_after" is:"time"`
	Until      *string     `json:"until" is:"time"`
	UntilAfter *string     `json:"until_after" is:"time"`
	HeldMS     *lengthJSON `json:"held_ms"`
	Cause      string      `json:"cause" is:"cause"`
	CauseKnown string      `json:"cause_known" is:"known"`
}

// termsOf are the terms that are over, the newest first.
func termsOf(terms []sources.Term) []termJSON {
	list := []termJSON{}
	for i := len(terms) - 1; i >= 0; i-- {
		t := &terms[i]
		if t.End.How == sources.Unknown {
			continue
		}
		out := termJSON{
			ID: text(t.Owner.ID), Label: text(t.Owner.Label), Fence: number(t.Owner.Fence), SinceKnown: t.Start.How.String(), HeldMS: lengthOf(t.Held()),
			Cause: t.Cause.String(), CauseKnown: t.How.String(),
		}
		out.Since, out.SinceAfter = stamp(t.Start)
		out.Until, out.UntilAfter = stamp(t.End)
		list = append(list, out)
	}
	return list
}
