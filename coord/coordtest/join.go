package coordtest

import (
	"fmt"

	"coordtop/coord"
)

// Go cannot compose method sets at run time, and cannot embed a type parameter. Every set of abilities that occurs
// therefore has its own struct here.

// joinGrant returns g with exactly the abilities in has. g must have each of them.
func joinGrant(g coord.Grant, has Ability) coord.Grant {
	r, _ := g.(coord.Renewer)
	p, _ := g.(coord.Publisher)
	switch has {
	case CanRenew:
		return struct {
			coord.Grant
			coord.Renewer
		}{g, r}
	case CanPublish:
		return struct {
			coord.Grant
			coord.Publisher
		}{g, p}
	case CanRenew | CanPublish:
		return struct {
			coord.Grant
			coord.Renewer
			coord.Publisher
		}{g, r, p}
	}
	return struct{ coord.Grant }{g}
}

// Short names for the structs below.
type (
	base = partSession
	ren  = coord.Renewer
	des  = coord.Describer
	wat  = coord.Watcher
	que  = coord.Queuer
	pro  = coord.Provisioner
)

// joinSession returns s with exactly the abilities in has. The session that s wraps must have each of them. It supports
// the sets that drivers of this module have, and those of a Mem with hidden abilities.
func joinSession(s partSession, has Ability) coord.DriverSession {
	r, _ := s.DriverSession.(coord.Renewer)
	d, _ := s.DriverSession.(coord.Describer)
	w, _ := s.DriverSession.(coord.Watcher)
	q, _ := s.DriverSession.(coord.Queuer)
	p, _ := s.DriverSession.(coord.Provisioner)
	switch has {
	case 0:
		return s
	case CanDescribe:
		return struct {
			base
			des
		}{s, d}
	case CanDescribe | CanQueue:
		return struct {
			base
			des
			que
		}{s, d, q}
	case CanDescribe | CanWatch:
		return struct {
			base
			des
			wat
		}{s, d, w}
	case CanDescribe | CanWatch | CanQueue:
		return struct {
			base
			des
			wat
			que
		}{s, d, w, q}
	case CanRenew | CanDescribe | CanWatch:
		return struct {
			base
			ren
			des
			wat
		}{s, r, d, w}
	case CanRenew | CanQueue | CanProvision:
		return struct {
			base
			ren
			que
			pro
		}{s, r, q, p}
	case CanRenew | CanDescribe | CanQueue | CanProvision:
		return struct {
			base
			ren
			des
			que
			pro
		}{s, r, d, q, p}
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
	panic(fmt.Sprintf("coordtest: no session has exactly the abilities %05b: add them to joinSession", has))
}
