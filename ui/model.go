package ui

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/verdict"
	"coordtop/sources"
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
	acting   dialog.Acting // and the dialog over the board
	options  Options
	feeds    *feeds
	replay   replay
	keys     keys.Map
	handlers map[keys.Intent]handler
	joiner   terminal.KeyJoiner

	w, h   int
	scheme paint.Scheme
	mouse  bool
	utc    bool
	tmux   bool

	line      typedLine
	filtering filterLine
	until     time.Time // when the message goes
	heard     time.Time // when the last message of the program came; zero: none has
	heldUntil time.Time // till when rows keep their places

	cursorRow sources.Ref // the row under the cursor, as long as it exists
	focus     struct {    // what the feed was told of last
		visible  []rows.Handle
		selected sources.Ref
	}

	laneTotals laneTotals
	asked      asked
	auditRead  struct {
		at      time.Time // when the audit was read last; zero: it is to be read
		running bool
		list    []action.AuditEntry // the newest first
	}

	troubleRead struct {
		at      time.Time // when it was looked what went wrong; zero: that is to be done
		running bool
	}

	frame    tea.View  // what View returns: drawn by Update
	tabTitle heldTitle // the title of the window
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

			OnlyPast: o.Feed == nil,
		},
		options:   o,
		handlers:  handlers(),
		feeds:     newFeeds(o),
		joiner:    terminal.KeyJoiner{Remote: env.Remote()},
		filtering: filterLine{input: dialog.NewInput()},
		w:         o.Width,
		h:         o.Height,
		line:      typedLine{input: dialog.NewInput()},

		scheme: paint.Scheme{Asked: o.Theme, Plain: o.NoColor || env.Get("NO_COLOR") != "", Title: o.TitleColor},
		tmux:   env.Get("TMUX") != "",
	}
	pastReader{m}.askIn(context.Background())
	var op dialog.Operator
	if o.Operator != nil {
		op = presentOperator{o.Operator, m.feeds}
	}
	m.acting = dialog.New(&m.Scene, m, m.feeds.latest(), op)
	m.keys, m.replay.model = keys.NewMap(m.Keys), m
	m.Theme = m.scheme.Theme(o.ASCII || env.ASCII())
	m.Title = cmp.Or(m.Title, screen.NoTitle)
	m.Rows.Filter.Find = m.rowOf
	m.Clock, m.Now = m.time()
	m.Started = m.Clock
	if o.Trouble {
		m.open(screen.Trouble)
	}
	if o.Greeting != "" {
		m.SayFor(longMessage, paint.Clean(o.Greeting))
	} else if o.Demo && !m.feeds.replaying() {
		m.welcome()
	}
	m.receive()
	m.draw()
	return m
}

// receive brings in what the feed has. While paused the picture stays.
func (m *model) receive() {
	if !m.Paused.IsZero() {
		return
	}
	if !m.replay.follows() {
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
		m.follow()
	}
	if changed || first {
		m.Locks.SetKeys(m.Rows.Handles)
		m.toLeader()
	}
	m.replay.reach()
	m.Scene.Arrange(m.w, m.h)
}

// follow keeps the cursor on a row that went and came back under another handle, and
// says when it is gone.
func (m *model) follow() {
	h, ok := m.Locks.Selected()
	if !ok || m.cursorRow == (sources.Ref{}) {
		return
	}
	if row, _ := m.Rows.At(h); row != nil && row.Ref == m.cursorRow {
		return
	}
	if now, ok := m.find(m.cursorRow); ok {
		m.Locks.Replace(h, now)
		return
	}
	if m.Locks.Moved() {
		m.Say(paint.Clean(m.cursorRow.Name) + " does not exist any more")
	}
	m.cursorRow = sources.Ref{}
}

// find returns the handle of a row by its identity.
func (m *model) find(ref sources.Ref) (rows.Handle, bool) {
	row := m.feeds.shown().Row(m.State, ref)
	if row == nil {
		return rows.Handle{}, false
	}
	return rows.HandleOf(row), true
}

// rowOf returns a row by its identity; nil where there is none.
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

// watch tells the feed which rows are on screen, if that changed.
func (m *model) watch() {
	focuser, ok := m.feeds.shown().(sources.Focuser)
	if !ok {
		return
	}
	selected, _ := m.Locks.Selected()
	visible := append(slices.Clone(m.inSight()), selected)
	subject := m.subject()
	if slices.Equal(visible, m.focus.visible) && subject == m.focus.selected {
		return
	}
	m.focus.visible, m.focus.selected = visible, subject
	refs := make([]sources.Ref, 0, len(visible))
	for _, h := range visible[:len(visible)-1] {
		if row, _ := m.Rows.At(h); row != nil {
			refs = append(refs, row.Ref)
		}
	}
	focuser.Focus(refs, subject)
}

// inSight are the rows that are drawn.
func (m *model) inSight() []rows.Handle {
	if m.Shown == screen.Timeline {
		return slices.DeleteFunc(slices.Clone(m.Time.Lanes.Visible()), rows.Handle.Recorded)
	}
	return m.Locks.Visible()
}

// subject is the row that the person looks at: that of the box, else the one under the cursor.
func (m *model) subject() sources.Ref {
	if ref, ok := m.acting.Target(); ok {
		return ref
	}
	return m.cursorRow
}

// welcomeTime is how long the welcome of the demo stands at the most: any message replaces it.
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
