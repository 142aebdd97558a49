package ui

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/action"
	"coordtop/internal/ground/raced"
	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/sqlite"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// second lets a board draw the time and the strips.
func second(m *model) {
	m.reads(terminal.SecondMsg{})
	m.reads(terminal.ColumnMsg{})
}

// frames are those of the screens, by name; the cursor of the list stays where it is.
func frames(m *model) map[string][]string {
	shown := map[string][]string{}
	look := func(name string, pressed ...string) {
		for _, k := range pressed {
			m.reads(uitest.Key(k))
		}
		shown[name] = strings.Split(m.View().Content, "\n")
	}
	second(m)
	second(m) // events come in batches
	look("locks", "2")
	look("detail", "enter")
	look("events", "5")
	look("timeline", "3")
	look("timeline of an hour", "-", "-")
	look("timeline again", "+", "+")
	look("sources", "o")
	look("locks again", "2")
	return shown
}

func board(o Options) *model {
	o.Title, o.Environ = "prod-eu", []string{"TERM=xterm-256color", "LANG=C.UTF-8"}
	m := newModel(o)
	m.reads(tea.WindowSizeMsg{Width: o.Width, Height: o.Height})
	return m
}

// arrives waits until a Player is at an instant.
func arrives(t *testing.T, p *history.Player, want time.Time) {
	t.Helper()
	for began := time.Now(); p.Position().Moving || !p.Position().At.Equal(want); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("it is at %+v, not at %v", p.Position(), want)
		}
	}
}

// at is an instant of the hour.
func at(d time.Duration) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d) }

// TestAReplayDrawsTheFramesOfTheLiveBoard records two runs into one file, and replays
// that there and back.
func TestAReplayDrawsTheFramesOfTheLiveBoard(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "seven thousand transactions take half a minute then; other tests play recordings with the race detector")
	path := filepath.Join(t.TempDir(), "history.db")
	times, live := liveHour(t, path)
	if len(times) < 22 {
		t.Fatalf("there are %d instants", len(times))
	}
	synctest.Test(t, func(t *testing.T) {
		store := sqlite.NewReader(path)
		p := history.NewPlayer(t.Context(), store, store)
		defer func() {
			p.Close()
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		p.Believe(true)
		p.Seek(times[0])
		synctest.Wait()
		m := board(Options{Player: p, History: store, Width: liveWidth, Height: liveHeight + 1})
		order := make([]int, 0, 2*len(times)) // there and back again
		for i := range times {
			order = append(order, i)
		}
		for i := range times {
			order = append(order, len(times)-1-i)
		}
		for _, i := range order {
			p.Seek(times[i])
			synctest.Wait()
			m.Message = ""
			second(m)
			m.Message = "" // that the row under the cursor is not known
			for name, again := range frames(m) {
				if !strings.Contains(ansi.Strip(again[0]), "THE PAST "+times[i].Format("Mon 2006-01-02 15:04:05.000")) {
					t.Errorf("%s at %v has no banner: %q", name, times[i], again[0])
				}
				if strings.Contains(strings.Join(live[i][name], ""), "connecting to ") && strings.Contains(strings.Join(again, ""), "nothing recorded yet") {
					continue // the past connects to nothing
				}
				last := liveHeight - 1 // has other keys in the past
				if d := difference(live[i][name][:last], again[1:liveHeight]); d != "" {
					t.Errorf("%s at %v: %s", name, times[i].Format("15:04:05.000"), d)
				}
			}
			if t.Failed() {
				return
			}
		}
	})
}

// difference names the first line in which two frames differ.
func difference(live, again []string) string {
	if len(live) != len(again) {
		return fmt.Sprintf("%d lines, and %d", len(live), len(again))
	}
	for i := range live {
		if live[i] != again[i] {
			return fmt.Sprintf("line %d was\n%s\nand is\n%s", i, live[i], again[i])
		}
	}
	return ""
}

var (
	hourOnce  sync.Once
	hourInRAM *historytest.Log
)

// hour is the recorded hour in memory.
func hour(t *testing.T) *historytest.Log {
	t.Helper()
	hourOnce.Do(func() {
		synctest.Test(t, func(t *testing.T) { hourInRAM = historytest.Hour(t, nil, nil) })
	})
	return hourInRAM
}

// played runs a test in a bubble with a player of the hour.
func played(t *testing.T, test func(t *testing.T, p *history.Player)) {
	t.Helper()
	log := hour(t)
	synctest.Test(t, func(t *testing.T) {
		p := history.NewPlayer(t.Context(), log, log)
		defer p.Close()
		test(t, p)
	})
}

// pastBoard is a live board with a recording of the hour behind it.
func pastBoard(t *testing.T, op Operator, test func(t *testing.T, d *driver, p *history.Player)) {
	t.Helper()
	played(t, func(t *testing.T, p *history.Player) {
		feed := newTestFeed(uitest.State(at(2*time.Hour), uitest.Led("now", "host-1", at(2*time.Hour))))
		d := drive(feed, Options{Player: p, Width: 120, Height: 30, Operator: op})
		test(t, d, p)
	})
}

func (d *driver) goes(text string) {
	d.press(":")
	d.typed(text)
	d.press("enter")
	synctest.Wait()
	second(d.model)
}

func TestTheBoardGoesBackInTimeAndToNow(t *testing.T) {
	t.Parallel()
	pastBoard(t, nil, func(t *testing.T, d *driver, p *history.Player) {
		before := d.text()
		d.goes("at 00:05")
		d.shows(t, "THE PAST Sat 2000-01-01 00:05:00.000")
		d.shows(t, "billing/cron")
		d.press("space")
		d.shows(t, "playing x1")
		d.press(">", ">")
		d.shows(t, "playing x5")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		d.send(terminal.WakeMsg{})
		d.shows(t, "00:05:10.000")
		d.press("p")
		d.shows(t, "stopped, x5")
		d.press(".")
		synctest.Wait()
		d.send(terminal.WakeMsg{})
		if d.Now.Before(at(5*time.Minute + 11*time.Second)) {
			t.Errorf("a step on goes to %v", d.Now)
		}
		d.press(",")
		synctest.Wait()
		d.press("5")
		d.shows(t, "THE PAST")
		d.press("2")
		d.goes("at 00:41:50")
		d.shows(t, "THE PAST Sat 2000-01-01 00:41:50.000")
		d.shows(t, "not recorded 00:41:30 - 00:43:00, 90 s; shown as known at 00:41:30")
		d.shows(t, "billing/cron")
		d.goes("at noon")
		d.shows(t, "no time: noon; write 12:31")
		d.goes("at today 0:20")
		d.shows(t, "THE PAST Sat 2000-01-01 00:20:00")
		d.goes("at 5m")
		d.shows(t, "THE PAST Sat 2000-01-01 00:15:00")
		d.goes("at 2007-01-01")
		d.shows(t, "is still to come")
		d.press("0")
		d.showsNot(t, "THE PAST")
		d.pass(20)
		d.showsNot(t, "billing/cron")
		d.goes("at -90m")
		d.shows(t, "THE PAST Sat 2000-01-01 00:30:20")
		d.press("esc")
		d.pass(10)
		d.press("g")
		if after := d.text(); strings.Count(after, "\n") != strings.Count(before, "\n") || strings.Contains(after, "THE PAST") {
			t.Errorf("esc does not go back to\n%s\nbut to\n%s", before, after)
		}
		d.press("space") // marks again
		if len(d.Marks) != 1 {
			t.Errorf("space marks %d rows", len(d.Marks))
		}
		if p.Position().Playing {
			t.Error("the recording plays while nobody looks")
		}
	})
}

func TestNothingIsDoneInThePast(t *testing.T) {
	t.Parallel()
	op := newTestOperator()
	pastBoard(t, op, func(t *testing.T, d *driver, _ *history.Player) {
		d.goes("at 00:05")
		for _, k := range []string{"a", "W", "X", "i"} {
			d.press(k)
			d.shows(t, "this is the past")
			d.showsNot(t, "Cancel")
			d.Message = ""
		}
		d.goes("acquire billing/cron")
		d.shows(t, "this is the past")
		d.goes("mute billing 1h")
		d.shows(t, "this is the past")
		guarded := presentOperator{op, d.feeds}
		if _, err := guarded.Start(action.Request{}); !errors.Is(err, ErrPast) {
			t.Errorf("an action is begun: %v", err)
		}
		if err := guarded.Arm("", ""); !errors.Is(err, ErrPast) {
			t.Errorf("writing is armed: %v", err)
		}
	})
}

func TestTheBannerIsSeenOnEveryScreen(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Width: 60, Height: 15}, {Width: 80, Height: 24}, {Width: 160, Height: 48}, {Width: 80, Height: 24, NoColor: true}, {Width: 60, Height: 15, ASCII: true, NoColor: true}} {
		played(t, func(t *testing.T, p *history.Player) {
			p.Seek(at(5 * time.Minute))
			synctest.Wait()
			o.Player = p
			m := board(o)
			for _, k := range []string{"2", "enter", "5", "6", "o", "?", "esc"} {
				m.Update(uitest.Key(k))
				second(m)
				lines := strings.Split(m.View().Content, "\n")
				first := ansi.Strip(lines[0])
				if !strings.HasPrefix(first, " THE PAST Sat 2000-01-01 00:05:00.000 UTC  stopped") || ansi.StringWidth(first) != o.Width ||
					!strings.Contains(first, "as known now") && o.Width >= 80 || len(lines) != o.Height {
					t.Errorf("at %dx%d after %s: %d lines, the first is %q", o.Width, o.Height, k, len(lines), first)
				}
				if o.NoColor && !strings.Contains(lines[0], "\x1b[1;7m") {
					t.Errorf("without colours the banner is not in reverse: %q", lines[0])
				}
			}
		})
	}
}

func TestABoardWithoutARecordingHasNoPast(t *testing.T) {
	t.Parallel()
	d := hand(uitest.Led("a", "host-1", noon()))
	d.press(":")
	d.typed("at -5m")
	d.press("enter")
	d.shows(t, "follow off")
	d.press(":")
	d.typed("now")
	d.press("enter")
	d.shows(t, "this is now")
}

func TestThePastHintsNoKeyThatIsOffThere(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *history.Player) {
		feed := newTestFeed(uitest.State(at(2*time.Hour), uitest.Led("now", "host-1", at(2*time.Hour))))
		d := drive(feed, Options{Player: p, Width: 160, Height: 40, Demo: true, Operator: newTestOperator()})
		d.shows(t, "Try X")
		d.press("3")
		d.press("T")
		synctest.Wait()
		second(d.model)
		d.shows(t, "THE PAST")
		d.showsNot(t, "Try X")
		for _, k := range []string{"2", "enter", "5", "3"} {
			d.press(k)
			footer := " " + d.lines()[len(d.lines())-1]
			for _, not := range []string{" X crash", " a actions", " W write", " p pause"} {
				if strings.Contains(footer, not) {
					t.Errorf("after %s the footer offers %q: %q", k, not, footer)
				}
			}
		}
		d.press("2")
		d.press("0")
		d.shows(t, "X crash its process")
		d.shows(t, "a actions")
	})
}

func TestTheWayOutOfARecordingIsOneKeyOnEveryScreen(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *history.Player) {
		p.Seek(at(5 * time.Minute))
		synctest.Wait()
		m := board(Options{Player: p, Width: 80, Height: 24, Demo: true})
		for pressed, out := range map[string]string{"1": "q quit", "2": "q quit", "3": "q back", "4": "esc back", "5": "q back", "6": "q back", "7": "esc back", "o": "esc back"} {
			m.Update(uitest.Key(pressed))
			second(m)
			shown := strings.TrimRight(ansi.Strip(m.View().Content), "\n")
			if footer := shown[strings.LastIndex(shown, "\n")+1:]; !strings.Contains(footer, out) || strings.Contains(shown, "ctrl+c") || strings.Contains(shown, "Try X") {
				t.Errorf("after %s %q is not in %q, or another key is named, or an action is offered", pressed, out, footer)
			}
		}
	})
}

func TestThePastOfARecordingThatHoldsNothingIsLeftAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := history.NewPlayer(t.Context(), &historytest.Log{}, nil)
		defer p.Close()
		feed := newTestFeed(uitest.State(noon(), uitest.Led("now", "host-1", noon())))
		d := drive(feed, Options{Player: p, Width: 120, Height: 30})
		d.goes("at 11:55")
		d.showsNot(t, "THE PAST")
		d.shows(t, "cannot go back: nothing is recorded")
		d.shows(t, "now")
		d.goes("at 11:56")
		d.shows(t, "cannot go back: nothing is recorded")
	})
}
