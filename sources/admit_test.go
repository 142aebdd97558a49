package sources

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"
)

func TestOwnersGetTheLabelsOfTheRules(t *testing.T) {
	t.Parallel()
	before := &Primitive{
		Owners: []Owner{{Label: "host-7:11"}, {Label: "other"}},
		Queue:  Queue{Waiters: []Waiter{{Label: "host-8:12"}}}, Candidates: []Waiter{{Label: "host-9:13"}},
	}
	f := &hubSource{owners: OwnerRules{{Match: regexp.MustCompile(`^host-(\d+):`), Label: "billing/$1"}}}
	set := []*Primitive{before}
	p := f.admit(Change{Set: set}).Set[0]
	got := []string{p.Owners[0].Label, p.Owners[1].Label, p.Queue.Waiters[0].Label, p.Candidates[0].Label}
	if want := []string{"billing/7", "other", "billing/8", "billing/9"}; !slices.Equal(got, want) {
		t.Errorf("labels are %q, want %q", got, want)
	}
	if set[0] != before || before.Owners[0].Label != "host-7:11" || before.Queue.Waiters[0].Label != "host-8:12" {
		t.Error("what belongs to the source was changed")
	}
}

func TestTheFirstRuleThatMatchesCounts(t *testing.T) {
	t.Parallel()
	rules := OwnerRules{
		{Match: regexp.MustCompile(`^(?P<host>[a-z]+)-\d+$`), Label: "${host}"},
		{Match: regexp.MustCompile(`-`), Label: "dashed"},
	}
	for text, want := range map[string]string{"host-7": "host", "Host-7": "dashed", "plain": "plain", "": ""} {
		if got := rules.Label(text); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
}

// fill sets everything that can be set in v, also in new fields: one element in each list,
// and every time with a monotonic reading and in another zone.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Now().In(time.FixedZone("elsewhere", 3600))))
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field)
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	}
}

// times calls f with every time below v.
func times(v reflect.Value, path string, f func(path string, at time.Time)) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		f(path, v.Interface().(time.Time))
	case v.Kind() == reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				times(value, path+"."+field.Name, f)
			}
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		times(v.Elem(), path, f)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			times(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	}
}

func TestNoTimeInWhatIsTakenInHasAMonotonicReading(t *testing.T) {
	t.Parallel()
	var c Change
	fill(reflect.ValueOf(&c).Elem())
	n, given := 0, c.Set[0]
	times(reflect.ValueOf(new(hubSource).admit(c)), "Change", func(path string, at time.Time) {
		n++
		if at.IsZero() || at != wallTime(at) {
			t.Errorf("%s = %v, want a time that a recording gives back as it is", path, at)
		}
	})
	if n < 9 {
		t.Errorf("%d times were found, there are more", n)
	}
	if given.At == wallTime(given.At) || given.Owners[0].Since.At == wallTime(given.Owners[0].Since.At) {
		t.Error("what belongs to the source was changed")
	}
}

func TestAChangeOnTheWallClockIsTakenInAsItIs(t *testing.T) {
	t.Parallel()
	c := Change{Set: []*Primitive{benchPrimitive(0, 0)}, At: Wall()}
	if got := new(hubSource).admit(c); &got.Set[0] != &c.Set[0] || got.At != c.At {
		t.Errorf("%+v was copied", got)
	}
}

func TestAnErrorIsKeptAsWhatARecordingGivesBack(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.New("reset"),
		fmt.Errorf("reading: %w for 3s", ErrSilent),
		&Problem{Text: "wrong password", Cause: errors.New("WRONGPASS"), Refused: true, Login: true},
		&Problem{Text: "no right", Refused: true},
	} {
		got := Recordable(err)
		if got.Error() != err.Error() {
			t.Errorf("%q is kept as %q", err, got)
		}
		for _, kind := range []error{ErrSilent, ErrRefused, ErrCredentials} {
			if errors.Is(got, kind) != errors.Is(err, kind) {
				t.Errorf("%q is %q: %v", err, kind, !errors.Is(got, kind))
			}
		}
		if again := Recordable(got); !reflect.DeepEqual(again, got) {
			t.Errorf("%#v is kept as %#v", got, again)
		}
	}
}
