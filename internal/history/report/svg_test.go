package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// flapping is a lane that somebody owned n times in the first part of a minute, with as long a gap
// behind each.
func flapping(name string, n int, part time.Duration) history.Lane {
	l := history.Lane{Ref: sources.Ref{Source: "s", Name: name}, Kind: sources.KindElection}
	step := part / time.Duration(2*n)
	for i := range time.Duration(n) {
		at := func(k time.Duration) sources.Stamp {
			return sources.Stamp{At: time.Unix(0, 0).Add((2*i + k) * step), How: sources.Told}
		}
		l.Terms = append(l.Terms, sources.Term{Owner: sources.OwnerRef{Label: "host"}, Start: at(0), End: at(1)})
	}
	return l
}

func TestThePictureShowsThatItFlapped(t *testing.T) {
	t.Parallel()
	_, picture := both(t, made{lanes: []history.Lane{flapping("x", 60, 12*time.Second)}})
	if !strings.Contains(picture, "59 times nobody, 5.9 s in all") || strings.Count(picture, `<rect class="gap"`) != 1 { // the last one lasts
		t.Errorf("flaps look as if nobody owned it all the time:\n%s", picture)
	}
}

func TestAReportOfMuchIsBounded(t *testing.T) {
	t.Parallel()
	var lanes []history.Lane
	for i := range 1099 {
		lanes = append(lanes, flapping(fmt.Sprint("calm-", i), 1, 60*time.Second))
	}
	lanes = append(lanes, flapping("worst", 5_000, 100*time.Millisecond))
	text, picture := both(t, made{lanes: lanes})
	for _, want := range []string{"These are the first of 1,100 primitives: those in the worst trouble", "s/worst | election", "These are the longest of 6,099."} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if !strings.Contains(picture, "the first 40 of 1,100 primitives") || !strings.Contains(picture, ">worst<") {
		t.Error("the picture does not say what it leaves out, or leaves out the worst")
	}
	if len(text) > 500_000 || len(picture) > 500_000 {
		t.Errorf("the report has %d bytes, the picture %d", len(text), len(picture))
	}
}

func TestThePictureNamesWhatIsInIt(t *testing.T) {
	t.Parallel()
	owned := func(source, name, owner string) history.Lane {
		return history.Lane{Ref: sources.Ref{Source: source, Name: name}, Kind: sources.KindElection, Terms: []sources.Term{term(owner, 1, 0, sources.Told, sources.Unknown)}}
	}
	event := history.Event{Event: sources.Event{At: time.Unix(7, 0), Kind: sources.EventNote, Detail: "see https://example.org, www.example.org"}}
	text, picture := both(t, made{events: []history.Event{event}, lanes: []history.Lane{
		owned("a", strings.Repeat("long", 20)+"-east", strings.Repeat("host", 50)+"-7"), owned("b", "請求書のリーダー選挙を行うため", "مضيف"),
		{Ref: sources.Ref{Source: "b", Name: "pool"}, Kind: sources.KindSemaphore, Levels: []sources.Level{{At: time.Unix(1, 0), High: 7}}},
	}})
	for _, want := range []string{">a/longlongl…onglonglonglonglong-east<", "host-7</text>", ">b/請求書のリーダー選挙を行うため<", ">A مضيف<", ">7</text>", "note, 1970-01-01 00:00:07.000: see"} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture does not show %q:\n%s", want, picture)
		}
	}
	if strings.Contains(text, "https://") || strings.Contains(text, "www.") {
		t.Errorf("the report has a link:\n%s", text)
	}
}

func TestAFreeMutexIsGreyAndNamesStandAboveShortBars(t *testing.T) {
	t.Parallel()
	job := history.Lane{Ref: sources.Ref{Source: "s", Name: "job"}, Kind: sources.KindMutex, Terms: []sources.Term{
		term("feed-number-one", 1, 3, sources.Seen, sources.Seen), term("feed-number-two", 20, 22, sources.Seen, sources.Seen), term("feed-number-one", 40, 42, sources.Seen, sources.Seen)}}
	_, picture := both(t, made{lanes: []history.Lane{job}})
	if strings.Contains(picture, `<rect class="gap"`) || strings.Count(picture, `<rect class="free"`) != 3 {
		t.Errorf("a free mutex looks like trouble:\n%s", picture)
	}
	for _, name := range []string{"one", "two"} {
		if n := strings.Count(picture, ">feed-number-"+name+"</text>"); n != 1 {
			t.Errorf("%s is named %d times:\n%s", name, n, picture)
		}
	}
}
