package sources

import "slices"

// Recall returns s with what an earlier run knew at its end of the rows in it: since when they are
// owned, or free, and who owned them before. It is for one look: nothing else of that run shows, while a
// Hub that resumes it has all its rows. As there, the same source has the same name, type and address,
// and nothing is recalled where the clock shows less than at that end. s stays as it is.
func (k *Keyframe) Recall(s *State) *State {
	if s.At.Before(k.at.Wall) {
		return s
	}
	same := map[string]bool{}
	for i := range k.sources {
		was := &k.sources[i]
		same[was.Name] = slices.ContainsFunc(s.Sources, func(is SourceStatus) bool {
			return is.Name == was.Name && is.Type == was.Type && is.Address == was.Address
		})
	}
	rows := map[Ref]*Row{}
	for _, was := range k.rows {
		if was != nil && same[was.Source] && read(was.Primitive) && ownersKnown(was.Primitive) {
			rows[was.Ref] = was
		}
	}
	all := *s
	all.Rows = slices.Clone(s.Rows)
	for slot, row := range s.Rows {
		if row != nil && rows[row.Ref] != nil && row.Fresh(s) && ownersKnown(row.Primitive) {
			was := rows[row.Ref]
			lost := Earlier(k.scopes[was.Scope].Alive, k.at.Wall)
			all.Rows[slot] = row.recalling(was, look{after: lost, at: row.At, darkFrom: lost, started: s.Scopes[row.Scope].About.Started})
		}
	}
	return &all
}

// recalling is a row of which l is the first look after an earlier run, which knew it as was.
func (r *Row) recalling(was *Row, l look) *Row {
	is := *r
	is.Primitive = l.complete(was.Primitive, r.Primitive)
	goesOn := len(is.Owners) == 0 && len(was.Owners) == 0
	if goesOn && was.Nobody.How != Unknown {
		is.Nobody = was.Nobody
	}
	is.Terms = slices.Clip(was.Terms)
	if n := len(was.Terms); n > 0 && was.Terms[n-1].End.How == Unknown {
		goesOn = len(is.Owners) == 1 && len(was.Owners) == 1 && l.goesOn(&was.Owners[0], &is.Owners[0])
		if is.Terms = l.doubtTerms(is.Terms); !goesOn {
			is.Terms = slices.Clone(was.Terms)
			is.Terms[n-1].End = l.stamp()
		}
	}
	if !goesOn {
		is.Terms = append(is.Terms, r.Terms...)
	}
	return &is
}
