package coordtest

import "coordtop/coord"

// Go cannot compose method sets at run time, and cannot embed a type parameter: every set of
// abilities has its own struct here.

// joinGrant gives g exactly the abilities in has, each of which the grant that it
// wraps must have.
func joinGrant(g *faultGrant, has Ability) coord.Grant {
	r, _ := g.Grant.(coord.Renewer)
	p, _ := g.Grant.(coord.Publisher)
	switch has {
	case CanRenew:
		return struct {
			*faultGrant
			coord.Renewer
		}{g, faultGrantRenewer{g, r}}
	case CanPublish:
		return struct {
			*faultGrant
			coord.Publisher
		}{g, faultPublisher{g, p}}
	case CanRenew | CanPublish:
		return struct {
			*faultGrant
			coord.Renewer
			coord.Publisher
		}{g, faultGrantRenewer{g, r}, faultPublisher{g, p}}
	}
	return g
}

// Short names for the table below.
type (
	base = *faultSession
	ren  = coord.Renewer
	des  = coord.Describer
	wat  = coord.Watcher
	que  = coord.Queuer
	pro  = coord.Provisioner
)

// joinSession gives s exactly the abilities in has, each of which the session that it
// wraps must have. TestWrapImplementsWhatItWraps goes through all of them.
func joinSession(s *faultSession, has Ability) coord.DriverSession {
	r, d, w, q, p := parts(s)
	switch has {
	case CanRenew:
		return struct {
			base
			ren
		}{s, r}
	case CanDescribe:
		return struct {
			base
			des
		}{s, d}
	case CanRenew | CanDescribe:
		return struct {
			base
			ren
			des
		}{s, r, d}
	case CanWatch:
		return struct {
			base
			wat
		}{s, w}
	case CanRenew | CanWatch:
		return struct {
			base
			ren
			wat
		}{s, r, w}
	case CanDescribe | CanWatch:
		return struct {
			base
			des
			wat
		}{s, d, w}
	case CanRenew | CanDescribe | CanWatch:
		return struct {
			base
			ren
			des
			wat
		}{s, r, d, w}
	case CanQueue:
		return struct {
			base
			que
		}{s, q}
	case CanRenew | CanQueue:
		return struct {
			base
			ren
			que
		}{s, r, q}
	case CanDescribe | CanQueue:
		return struct {
			base
			des
			que
		}{s, d, q}
	case CanRenew | CanDescribe | CanQueue:
		return struct {
			base
			ren
			des
			que
		}{s, r, d, q}
	case CanWatch | CanQueue:
		return struct {
			base
			wat
			que
		}{s, w, q}
	case CanRenew | CanWatch | CanQueue:
		return struct {
			base
			ren
			wat
			que
		}{s, r, w, q}
	case CanDescribe | CanWatch | CanQueue:
		return struct {
			base
			des
			wat
			que
		}{s, d, w, q}
	case CanRenew | CanDescribe | CanWatch | CanQueue:
		return struct {
			base
			ren
			des
			wat
			que
		}{s, r, d, w, q}
	case CanProvision:
		return struct {
			base
			pro
		}{s, p}
	case CanRenew | CanProvision:
		return struct {
			base
			ren
			pro
		}{s, r, p}
	case CanDescribe | CanProvision:
		return struct {
			base
			des
			pro
		}{s, d, p}
	case CanRenew | CanDescribe | CanProvision:
		return struct {
			base
			ren
			des
			pro
		}{s, r, d, p}
	case CanWatch | CanProvision:
		return struct {
			base
			wat
			pro
		}{s, w, p}
	case CanRenew | CanWatch | CanProvision:
		return struct {
			base
			ren
			wat
			pro
		}{s, r, w, p}
	case CanDescribe | CanWatch | CanProvision:
		return struct {
			base
			des
			wat
			pro
		}{s, d, w, p}
	case CanRenew | CanDescribe | CanWatch | CanProvision:
		return struct {
			base
			ren
			des
			wat
			pro
		}{s, r, d, w, p}
	case CanQueue | CanProvision:
		return struct {
			base
			que
			pro
		}{s, q, p}
	case CanRenew | CanQueue | CanProvision:
		return struct {
			base
			ren
			que
			pro
		}{s, r, q, p}
	case CanDescribe | CanQueue | CanProvision:
		return struct {
			base
			des
			que
			pro
		}{s, d, q, p}
	case CanRenew | CanDescribe | CanQueue | CanProvision:
		return struct {
			base
			ren
			des
			que
			pro
		}{s, r, d, q, p}
	case CanWatch | CanQueue | CanProvision:
		return struct {
			base
			wat
			que
			pro
		}{s, w, q, p}
	case CanRenew | CanWatch | CanQueue | CanProvision:
		return struct {
			base
			ren
			wat
			que
			pro
		}{s, r, w, q, p}
	case CanDescribe | CanWatch | CanQueue | CanProvision:
		return struct {
			base
			des
			wat
			que
			pro
		}{s, d, w, q, p}
	case CanRenew | CanDescribe | CanWatch | CanQueue | CanProvision:
		return struct {
			base
			ren
			des
			wat
			que
			pro
		}{s, r, d, w, q, p}
	}
	return s
}

// parts are the abilities that s may have, each with the faults of s.
func parts(s *faultSession) (ren, des, wat, que, pro) {
	r, _ := s.DriverSession.(coord.Renewer)
	d, _ := s.DriverSession.(coord.Describer)
	w, _ := s.DriverSession.(coord.Watcher)
	q, _ := s.DriverSession.(coord.Queuer)
	p, _ := s.DriverSession.(coord.Provisioner)
	return faultSessionRenewer{s, r}, faultDescriber{s, d}, faultWatcher{s, w}, faultQueuer{s, q}, faultProvisioner{s, p}
}
