package filter_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/ui/filter"
)

// The fields of the language of these tests.
const (
	source = iota
	kind
	name
	owner
	state
	since
	wait
	chg
	lease
	gap
	waiters // what wait is compared with where that is a plain number
)

func language() filter.Fields {
	return filter.Fields{
		source: {Name: "source", Op: "="},
		kind:   {Name: "kind", Op: "="},
		name:   {Name: "name", Op: "~"},
		owner:  {Name: "owner", Op: "~"},
		state:  {Name: "state", Op: "=", Value: filter.OneWord, Also: []string{"status"}},
		since:  {Name: "since", Op: "<", Is: filter.Length},
		wait:   {Name: "wait", Op: ">", Is: filter.Length, Counts: true},
		chg:    {Name: "chg", Op: ">", Is: filter.Count},
		lease:  {Name: "lease", Op: "<", Is: filter.Length},
		gap:    {Name: "gap", Op: ">", Is: filter.Length},
	}
}

// row is a subject made by hand. Fields that are not in a map are unknown.
type row struct {
	texts   map[int][]string
	numbers map[int]filter.Range
	labels  map[string]string
}

func (r row) Words(match func(string) bool) bool {
	for _, f := range []int{source, kind, name, owner} {
		if slices.ContainsFunc(r.texts[f], match) {
			return true
		}
	}
	return false
}

func (r row) Text(field int, match func(string) bool) (found, known bool) {
	list, known := r.texts[field]
	return slices.ContainsFunc(list, match), known
}

func (r row) Number(field int, count bool) (filter.Range, bool) {
	if count {
		field = waiters
	}
	n, ok := r.numbers[field]
	return n, ok
}

// exactly returns the range of a known length of time.
func exactly(d time.Duration) filter.Range { return filter.Range{Low: int64(d), High: int64(d)} }

func (r row) Label(key string) (string, bool) {
	v, ok := r.labels[key]
	return v, ok
}

// setup returns three rows: a calm election, a mutex with a queue, and one of which only the name is
// known.
func setup() map[string]row {
	text := func(from, of, called, is string, owners ...string) map[int][]string {
		return map[int][]string{source: {from}, kind: {of}, name: {called}, state: {is}, owner: owners}
	}
	return map[string]row{
		"calm": {texts: text("coord", "election", "orders/outbox", "led", "host-12:1893"),
			numbers: map[int]filter.Range{since: exactly(3 * time.Hour), chg: exactly(0), waiters: exactly(0), wait: exactly(0),
				lease: exactly(12 * time.Second), gap: exactly(0)},
			labels: map[string]string{"env": "prod", "Team": "core"}},
		"busy": {texts: text("leases", "mutex", "orders/reconcile", "no-leader"),
			numbers: map[int]filter.Range{since: exactly(90 * time.Second), chg: exactly(5), waiters: exactly(2),
				wait: exactly(41 * time.Second), gap: exactly(8200 * time.Millisecond)},
			labels: map[string]string{"env": "test"}},
		"dark": {texts: map[int][]string{source: {"leases"}, name: {"a name (old)"}}},
	}
}

func labels() []string { return []string{"env", "Team"} }

// passing returns the rows that a filter selects, in order.
func passing(e filter.Expr) string {
	var names []string
	for name, r := range setup() {
		if e.Match(r) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestFiltersSelectWhatTheySay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "busy calm dark",
		"   ":                                  "busy calm dark",
		"orders":                               "busy calm",
		"ORDERS !Reconcile":                    "calm",
		"orders and host-12":                   "calm",
		"host-12 or dark or old":               "calm dark",
		"kind=mutex wait>30s":                  "busy",
		"kind = mutex  wait > 30s":             "busy",
		"source=leases and chg>2":              "busy",
		"owner~host-1[0-3]":                    "calm",
		"owner~HOST-1[3-9]":                    "",
		"owner!~host":                          "busy",
		"owner!=host-12:1893":                  "busy",
		"since<10m or state=no-leader":         "busy",
		`state="no leader"`:                    "busy",
		"state=No_Leader":                      "busy",
		"env=prod":                             "calm",
		"ENV=PROD":                             "calm",
		"team=core":                            "calm",
		"team!=core":                           "",
		"team=?":                               "busy dark",
		"chg>=5":                               "busy",
		"chg<=0":                               "calm",
		"chg=5":                                "busy",
		"chg!=5":                               "calm",
		"wait>1":                               "busy",
		"wait=0":                               "calm",
		"since=1m":                             "busy",
		"since=90s":                            "busy",
		"since=89s":                            "",
		"since>1h30m":                          "calm",
		"gap>8s":                               "busy",
		"gap>500ms and gap<7d":                 "busy",
		"lease=?":                              "busy dark",
		"lease!=?":                             "calm",
		"lease>0s":                             "calm",
		"!lease>5s":                            "",
		"!(lease>5s)":                          "",
		"!lease>5s or lease=?":                 "busy dark",
		"kind=?":                               "dark",
		`name="a name (old)"`:                  "dark",
		`"name (o"`:                            "dark",
		"(orders or old) source=leases":        "busy dark",
		"orders or old source=leases":          "busy calm dark",
		"!(orders or old)":                     "",
		"name~(outbox|reconcile) kind=mutex":   "busy",
		"(name~^orders/(outbox|x)$)":           "calm",
		"name~^a.name":                         "dark",
		`"and"`:                                "",
		"AND orders":                           "busy calm",
		"(orders":                              "busy calm",
		`"orders/out`:                          "calm",
		`name=""`:                              "",
		"orders !":                             "busy calm",
		"orders or":                            "busy calm",
		"orders kind=":                         "busy calm",
		"kind=":                                "busy calm dark",
		"(kind= or orders)":                    "busy calm",
		"name~a!b or name=orders/outbox":       "calm",
		"a!b or or":                            "",
		"orders/outbox or !!orders/reconcile":  "busy calm",
		strings.Repeat("(", 40) + "orders":     "busy calm",
		"source=leases !kind=mutex or kind=? ": "dark",
	} {
		e, err := language().Parse(text, labels())
		if open := (*filter.Error)(nil); err != nil && (!errors.As(err, &open) || !open.Open) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := passing(e); got != want {
			t.Errorf("%s lets %q pass, not %q", text, got, want)
		}
	}
}

// A number with known bounds is more or less than something if all values within the bounds are.
func TestANumberOfWhichBoundsAreKnownMatchesOnlyWhatIsSure(t *testing.T) {
	t.Parallel()
	atLeast := filter.Range{Low: int64(5 * time.Minute), High: math.MaxInt64}
	atMost := filter.Range{High: int64(5 * time.Minute)}
	between := filter.Range{Low: int64(2 * time.Second), High: int64(4 * time.Second)}
	for _, c := range []struct {
		is   filter.Range
		text string
		want bool
	}{
		{atLeast, "since>4m", true}, {atLeast, "since>=5m", true}, {atLeast, "since>10m", false}, {atLeast, "since<10m", false},
		{atLeast, "!since<10m", false}, {atLeast, "!since>10m", false}, {atLeast, "since<5m", false}, {atLeast, "!since<5m", true},
		{atLeast, "since=5m", false}, {atLeast, "since!=5m", false}, {atLeast, "since!=4m", true}, {atLeast, "since!=?", true}, {atLeast, "since=?", false},
		{atMost, "since<10m", true}, {atMost, "since<=5m", true}, {atMost, "since<4m", false}, {atMost, "since>1m", false}, {atMost, "!since>5m", true},
		{between, "since>1s", true}, {between, "since<5s", true}, {between, "since>3s", false}, {between, "since<3s", false}, {between, "since=3s", false},
	} {
		e, err := language().Parse(c.text, nil)
		if got := e.Match(row{numbers: map[int]filter.Range{since: c.is}}); err != nil || got != c.want {
			t.Errorf("%s of %v: %t (%v)", c.text, c.is, got, err)
		}
	}
}

func TestMistakesAreSaidWithTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		at         int
		open       bool
	}{
		{"orders kind=", "kind= what?", 7, true},
		{"orders or", "or what?", 9, true},
		{"orders and", "and what?", 7, true},
		{"orders !", "! before what?", 7, true},
		{"orders colour=red", "no field or label colour: tab lists them, quotes look for it as text", 7, false},
		{"orders status=led", "no field or label status: did you mean state?", 7, false},
		{"knd=mutex", "no field or label knd: did you mean kind?", 0, false},
		{"tean=a", "no field or label tean: did you mean Team?", 0, false},
		{"=x", "which field = x?", 0, false},
		{"owner~host-1[", "the expression has a missing closing ]", 6, false},
		{"kind>mutex", "kind is a text: use = != ~ or !~", 0, false},
		{"since~10m", "since is a number: use = != < > <= or >=", 0, false},
		{"since>10", "since is compared with a time as 30s, 10m, 2h or 3d", 6, false},
		{"since>99999999999999999w", "since is compared with a time as 30s, 10m, 2h or 3d", 6, false},
		{"chg>2s", "chg is compared with a number", 4, false},
		{"chg>?", "? is what is not known: use = or !=", 4, false},
		{"orders )", "a ) too many", 7, false},
		{strings.Repeat("(", 60) + "x", "nested too deeply", 51, false},
	} {
		e, err := language().Parse(c.text, labels())
		var got *filter.Error
		if !errors.As(err, &got) || got.Text != c.want || got.At != c.at || got.Open != c.open {
			t.Errorf("%s: %+v", c.text, got)
		}
		if !c.open && !e.Empty() {
			t.Errorf("%s: it selects something in spite of its mistake", c.text)
		}
	}
}

func TestCompletionOffersFieldsAndValues(t *testing.T) {
	t.Parallel()
	values := func(field string) []string {
		return map[string][]string{"kind": {"election", "mutex", "semaphore"}, "owner": {"host 1", "host-2"}, "env": {"prod", "test"}}[field]
	}
	for _, c := range []struct {
		text string
		from int
		want string
	}{
		{"", 0, "source= kind= name~ owner~ state= since< wait> chg> lease< gap> Team= env="},
		{"orders ", 7, "source= kind= name~ owner~ state= since< wait> chg> lease< gap> Team= env="},
		{"s", 0, "source= state= since<"},
		{"orders !K", 8, "kind="},
		{"(e", 1, "env="},
		{"kind=", 5, "election mutex semaphore"},
		{"a kind=M", 7, "mutex"},
		{"kind=mutex", 10, ""},
		{"kind!=se", 6, "semaphore"},
		{"owner=h", 6, `"host 1" host-2`},
		{`owner="host 1`, 6, `"host 1"`},
		{"env=", 4, "prod test"},
		{"nothing=", 8, ""},
		{"chg>", 4, ""},
		{`"quoted`, 7, ""},
		{"kind=mutex ", 11, "source= kind= name~ owner~ state= since< wait> chg> lease< gap> Team= env="},
	} {
		got := language().Complete(c.text, labels(), values)
		if list := strings.Join(got.List, " "); list != c.want || c.want != "" && got.From != c.from {
			t.Errorf("%q offers %q from %d", c.text, list, got.From)
		}
	}
}

func TestQuotedTextIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"plain", "two words", `a"b`, `back\slash`, `end\`, "or", "?", "a=b", "(x)", "日本", ""} {
		r := row{texts: map[int][]string{owner: {text}}}
		e, err := language().Parse("owner="+filter.Quote(text), nil)
		if err != nil || !e.Match(r) {
			t.Errorf("%q written as %s does not match: %v", text, filter.Quote(text), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"orders !reconcile", "kind=mutex wait>30s", "owner~host-1[0-3]", "since<10m or state=no-leader",
		"(a or b) !c", `name="x\"y"`, "chg>=2 and lease=?", "a or", "!!!(", "name~(a|b)", "=", "wait<=1h30m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := language().Parse(text, labels())
		var bad *filter.Error
		if err != nil && (!errors.As(err, &bad) || bad.At < 0 || bad.At > len(text) || bad.Text == "") {
			t.Errorf("%q: %v", text, err)
		}
		for _, r := range setup() {
			e.Match(r)
		}
		c := language().Complete(text, labels(), func(string) []string { return []string{"a b", text} })
		if c.From < 0 || c.From > len(text) {
			t.Errorf("%q is completed from %d", text, c.From)
		}
		quoted, err := language().Parse("name="+filter.Quote(text), nil)
		if text != "" && (err != nil || !quoted.Match(row{texts: map[int][]string{name: {text}}})) {
			t.Errorf("%q is not read back from %s: %v", text, filter.Quote(text), err)
		}
	})
}

func TestAColonIsTakenForAComparison(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"kind:election": "kind=election", "billing kind:mutex": "kind=mutex", "status:led": "state=led", "STATUS:late": "state=late", "source:prod": "source=prod",
		"owner:host-1": "owner~host-1", "wait:30s": "wait>30s", "evn:prod": "env=prod", "team:cor": "Team=cor",
		"app:leader": "", `"kind:election"`: "", "kind=election": "", "biling": "", "kind:": "", "": "",
	} {
		if got := language().Meant(text, labels()); got != want {
			t.Errorf("%s: meant %q, want %q", text, got, want)
		}
	}
}
