package ui

import (
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// called returns what a command writes to the terminal.
func called(cmd tea.Cmd) (all string) {
	if cmd == nil {
		return ""
	}
	switch msg := cmd().(type) {
	case tea.RawMsg:
		return msg.Msg.(string)
	case tea.BatchMsg:
		for _, one := range msg {
			all += called(one)
		}
	}
	return all
}

// calls lets seconds pass and returns what the board writes beside its frames.
func (d *driver) calls(seconds int) (all string) {
	for range seconds {
		d.feed.Pass(time.Second)
		all += called(d.send(terminal.SecondMsg{}))
	}
	return all
}

func TestTheBoardCallsOnceForWhatIsNewWhileNobodyLooks(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 30, Alert: "osc"})
	if !d.View().ReportFocus {
		t.Error("the terminal is not asked for its focus")
	}
	quiet := func(when string, seconds int) {
		t.Helper()
		if got := d.calls(seconds); got != "" {
			t.Errorf("%s: %q", when, got)
		}
	}
	d.show(uitest.State(noon(), a, lost("b")))
	quiet("the focus is not known", 3)
	d.send(tea.BlurMsg{})
	quiet("nothing is new", 3)
	d.show(uitest.State(noon(), a, lost("b"), lost("c")))
	if got := d.calls(3); got != "\x1b]9;prod-eu: c has no leader\a\a" {
		t.Errorf("%q", got)
	}
	d.show(uitest.State(noon(), a, lost("b"), lost("c"), lost("d")))
	quiet("a minute has not passed", 50)
	if got := d.calls(15); strings.Count(got, "d has no leader") != 1 {
		t.Errorf("after a minute: %q", got)
	}
	quiet("it was called for", 120)
	d.send(tea.FocusMsg{})
	d.show(uitest.State(noon(), a, lost("b"), lost("c"), lost("d"), lost("e")))
	quiet("they look", 70)
	d.send(tea.BlurMsg{})
	quiet("they have seen it", 3)
	d.show(uitest.State(noon(), a))
	quiet("all is well", 3)
	d.show(uitest.State(noon(), a, lost("b"), lost("c"), lost("d")))
	if got := d.calls(3); got != "\x1b]9;prod-eu: b has no leader, and 2 more\a\a" {
		t.Errorf("back: %q", got)
	}
}

func TestABoardThatShallNotCallAsksNothingOfTheTerminal(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 30})
	d.send(tea.BlurMsg{})
	d.show(uitest.State(noon(), a, lost("b")))
	if got := d.calls(3) + called(d.Init()); got != "" || d.View().ReportFocus {
		t.Errorf("%q", got)
	}
}

func TestTheTerminalIsAskedWhetherItTakesNotifications(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	s := uitest.NewScreen(t, 80, 24)
	all := &record{}
	ended := make(chan error, 1)
	feed := newTestFeed(uitest.State(noon(), a))
	go func() { // received below
		ended <- Run(t.Context(), Options{Feed: feed, Alert: "osc", Input: s.Input(),
			Output: io.MultiWriter(s, all), Width: 80, Height: 24, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}})
	}()
	s.Await(t, "READ-ONLY")
	s.Type(t, "\x1b]99;i=coordtop:p=?;o=always\x1b\\\x1b[I\x1b[O?")
	s.Await(t, "SIGNS")
	s.Type(t, "qq")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x1b]99;i=coordtop:p=?;\x1b\\", "\x1b[?1004h", "\x1b[?1004l"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q was not written", want)
		}
	}
}

func TestNotificationsThatWereNotDeliveredAreSaid(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	text := ""
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 30, Notified: func() string { return text }})
	d.showsNot(t, "notify[0]")
	text = "notify[0]: its URL answers 503; trying again"
	d.pass(1)
	d.shows(t, text)
	d.pass(20)
	d.showsNot(t, text)
	d.press("o")
	d.shows(t, text)
}

func TestTheWindowOfAReplayNamesItsEnvironmentOnce(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *history.Player) {
		for title, want := range map[string]string{"prod-eu": "coordtop prod-eu: replay of ", "": "coordtop: replay of "} {
			m := newModel(Options{Player: p, Title: title, Width: 120, Height: 30})
			if got := m.View().WindowTitle; !strings.HasPrefix(got, want) {
				t.Errorf("%q", got)
			}
		}
	})
}
