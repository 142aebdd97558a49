package ui

import (
	"cmp"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/diagnose"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/dialog"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
)

// model is the one tea.Model. Only Update changes it; drawing reads it.
type model struct {
	screen.Scene
	acting  dialog.Acting // and the dialog over the board
	options Options
	feeds   *feeds
	keyboard

	// The parts, each of which changes what is its own.
	rowList   *rowList
	attention *attention
	pulse     *pulsePart
	timeline  *timelinePart
	past      *pastReader
	replay    *replay
	owners    *ownersPart
	trouble   *troubleReader
	objective *objectiveReader
	audit     *auditReader
	exporter  *exporter
	focus     *focusNotifier

	window
	alerts alerts
	line   typedLine
	until  time.Time // when the message goes
	heard  time.Time // when the last message of the program came; zero: none has

	drawn struct { // by Update
		frame    tea.View  // what View returns
		tabTitle heldTitle // of the window
	}
}

// keyboard turns keys into intents, and intents into what is done.
type keyboard struct {
	keys     keys.Map
	handlers map[keys.Intent]handler
	joiner   terminal.KeyJoiner
}

// window has the size of the terminal, and the settings of the person for it.
type window struct {
	w, h   int
	scheme paint.Scheme
	mouse  bool
	utc    bool // times are in UTC
}

// part has the fields that all parts of the board share.
type part struct {
	scene *screen.Scene
	feeds *feeds
	host  host
}

// host has the methods of the board that its parts call.
type host interface {
	Say(text string)                               // shows a message in the footer for some seconds
	SayFor(d time.Duration, text string)           // shows it for so long
	find(ref sources.Ref) (h rows.Handle, ok bool) // finds the handle of a row
	switchTo(v screen.View)                        // goes to a screen
	open(v screen.View)                            // goes to a screen with a way back
	second()                                       // brings the board to the time that it is now
}

// addParts makes the parts of the board and ties them together.
func (m *model) addParts() {
	shared, o := part{&m.Scene, m.feeds, m}, &m.options
	m.rowList = &rowList{part: shared, filtering: filterLine{input: dialog.NewInput()}}
	m.attention = &attention{part: shared, acting: &m.acting, line: &m.line, keeper: o.Mutes, runbooks: o.Runbooks, url: o.URL}
	m.pulse = &pulsePart{part: shared, list: m.rowList, attention: m.attention, decided: o.Start != StartAuto || o.Feed == nil}
	m.attention.pulse = m.pulse
	m.timeline = &timelinePart{part: shared, acting: &m.acting, options: o}
	m.past = &pastReader{part: shared, history: o.History, sums: &m.timeline.sums, arrived: m.timeline.land}
	m.replay = &replay{part: shared, sums: &m.timeline.sums, timeline: m.timeline, list: m.rowList}
	m.timeline.past, m.timeline.replay = m.past, m.replay
	m.owners = &ownersPart{part: shared, list: m.rowList, pulse: m.pulse}
	m.alerts = alerts{Alert: terminal.NewAlert(o.Alert, terminal.Environ(o.Environ)), part: shared, undelivered: o.Notified, last: map[diagnose.Pattern]time.Time{}}
	m.trouble = &troubleReader{part: shared, past: m.past, replay: m.replay}
	m.objective = &objectiveReader{part: shared, past: m.past, list: o.Objectives}
	m.audit = &auditReader{part: shared, options: o, rows: m.rowList}
	tmux := terminal.Environ(o.Environ).Get("TMUX") != ""
	m.exporter = &exporter{part: shared, options: o, tmux: tmux, audit: m.audit, list: m.rowList}
	m.focus = &focusNotifier{part: shared, acting: &m.acting, list: m.rowList}
}

// boardKeys are the keys of this board: the person's own, and in the demo a hint for the one
// that ends a process.
func boardKeys(o Options) keys.Table {
	table := keys.Rebound(keys.Bindings(), o.Keys)
	if o.Demo {
		table = table.Hinted(keys.Crash, "crash its process")
	}
	return table
}

func newModel(o Options) *model {
	env := terminal.Environ(o.Environ)
	m := &model{
		Scene: screen.Scene{
			Title: paint.Clean(o.Title),
			Home:  env.Get("HOME"),
			Keys:  boardKeys(o),
			Marks: map[sources.Ref]bool{},

			Recorded:   screen.Recorded{OnlyPast: o.Feed == nil},
			Navigation: screen.Navigation{Shown: screen.Locks},
		},
		options:  o,
		keyboard: keyboard{handlers: handlers(), joiner: terminal.KeyJoiner{Remote: env.Remote()}},
		feeds:    newFeeds(o),
		window: window{
			w: o.Width, h: o.Height,
			scheme: paint.Scheme{Asked: o.Theme, Plain: o.NoColor || env.Get("NO_COLOR") != "", Title: o.TitleColor},
		},
		line: typedLine{input: dialog.NewInput()},
	}
	m.addParts()
	m.past.askIn(context.Background())
	var op dialog.Operator
	if o.Operator != nil {
		op = presentOperator{o.Operator, m.feeds}
	}
	m.acting = dialog.New(&m.Scene, m, m.feeds.latest(), op)
	m.keys = keys.NewMap(m.Keys)
	m.Theme = m.scheme.Theme(o.ASCII || env.ASCII())
	m.Title = cmp.Or(m.Title, screen.NoTitle)
	m.Rows.Filter.Find = m.rowOf
	m.Clock, m.Now = m.feeds.times(m.utc)
	m.Started = m.Clock
	if o.Trouble {
		m.open(screen.Trouble)
	} else if o.Start == StartPulse {
		m.switchTo(screen.Pulse)
	}
	if o.Greeting != "" {
		m.SayFor(longMessage, paint.Clean(o.Greeting))
	} else if o.Demo && !m.feeds.replaying() {
		m.welcome()
	}
	m.receive()
	m.pulse.begin()
	m.draw()
	return m
}

// receive brings in what the feed has. While paused the picture stays.
func (m *model) receive() {
	if !m.Paused.IsZero() {
		return
	}
	if !m.replay.follows() {
		m.Scene.Arrange(m.w, m.h)
		return
	}
	first := m.State == nil
	m.State = m.feeds.shown().State()
	m.Events.Read(m.feeds.shown())
	changed := m.Rows.Update(m.State, m.Now)
	if m.replay.anew {
		m.replay.anew = false
		m.replay.regain()
	} else {
		m.rowList.follow()
	}
	if changed || first {
		m.Locks.SetKeys(m.Rows.Handles)
		m.toLeader()
	}
	m.replay.reach()
	m.Scene.Arrange(m.w, m.h)
}

// find returns the handle of a row by its identity.
func (m *model) find(ref sources.Ref) (rows.Handle, bool) {
	row := m.feeds.shown().Row(m.State, ref)
	if row == nil {
		return rows.Handle{}, false
	}
	return rows.HandleOf(row), true
}

// rowOf returns a row by its identity; nil if the row does not exist.
func (m *model) rowOf(ref sources.Ref) (*sources.Row, verdict.Verdict) {
	h, ok := m.find(ref)
	if !ok {
		return nil, verdict.Verdict{}
	}
	return m.Rows.At(h)
}

const (
	messageTime = 4 * time.Second  // how long a message covers the hints
	longMessage = 15 * time.Second // one that has to be read or typed off
)

// Say shows a message in the footer for some seconds.
func (m *model) Say(text string) { m.SayFor(messageTime, text) }

// SayFor shows a message in the footer for so long.
func (m *model) SayFor(d time.Duration, text string) { m.Message, m.until = text, m.Clock.Add(d) }

// welcomeTime bounds the time of the welcome of the demo: any message replaces it.
const welcomeTime = 45 * time.Second

// welcome says at the start of the demo what happens in it, and what to try.
func (m *model) welcome() {
	key := m.Keys.KeyOf
	m.SayFor(welcomeTime, "Demo: programs lead and queue on private servers; 4242 is never given back.\n"+
		"Try "+key(keys.Crash)+": it crashes the leader's process. Then "+key(keys.Open)+", "+key(keys.Events)+" (events), "+key(keys.Help)+" (signs).")
}

// toLeader puts the cursor of the demo on a leader, as long as nobody has moved it: there is
// most to try.
func (m *model) toLeader() {
	if !m.options.Demo || m.Locks.Moved() {
		return
	}
	for _, h := range m.Rows.Handles {
		if row, _ := m.Rows.At(h); row != nil && row.Kind == sources.KindElection && len(row.Owners) > 0 {
			m.Locks.Select(h)
			return
		}
	}
}
