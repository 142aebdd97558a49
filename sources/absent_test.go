package sources

import "testing"

func TestDiffNamesWhatComesToExistWhileItIsConfigured(t *testing.T) {
	t.Parallel()
	there := func(p *Primitive) { p.ForgetAfter = 0 }
	absent := func(p *Primitive) { p.ForgetAfter, p.Absent, p.Note = 0, true, "no such semaphore" }
	hidden := func(p *Primitive) { p.ForgetAfter, p.OwnersHow = 0, Unknown }
	unread := &Primitive{Ref: Ref{Source: "s", Name: "app"}}
	runDiffs(t, []diffTest{
		{"what is absent at start is said to be", unread, with(prim(t0), absent), Change{Relists: true}, []string{"absent at_least: no such semaphore"}},
		{"what stays absent tells nothing", with(prim(before), absent), with(prim(t0), absent), Change{}, nil},
		{"what was absent is created", with(prim(before), absent), with(prim(t0, owner("a")), there), Change{After: before},
			[]string{"created seen within 10s", "acquired +a seen within 10s"}},
		{"what was absent before a gap is created too", with(prim(before), absent), with(prim(t0), there), Change{Relists: true, After: before},
			[]string{"created seen within 10s"}},
		{"it is created where its owners are not told", with(prim(before), absent), with(prim(t0), hidden), Change{}, []string{"created told"}},
		{"what becomes absent is deleted", with(prim(before, owner("a")), there), with(prim(t0), absent), Change{},
			[]string{"released -a deleted inferred", "deleted told"}},
	})
}
