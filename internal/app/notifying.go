package app

import (
	"context"
	"crypto/sha1"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"coordtop/internal/config"
	"coordtop/internal/diagnose"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/internal/mute"
	"coordtop/internal/notify"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/rows"
)

// configFilter parses a filter of the config; its Mistake is nil if it can be used.
func configFilter(c *config.Config, text string) *rows.Selection {
	f := &rows.Selection{}
	f.Parse(text, func() (labels []string) {
		for i := range c.Sources {
			for _, l := range c.Sources[i].Labels {
				labels = append(labels, l.Key)
			}
		}
		return labels
	})
	return f
}

// filterProblems returns what is wrong with the filters of c.
func filterProblems(c *config.Config) (list []config.Problem) {
	for i := range c.Notify {
		if m := configFilter(c, c.Notify[i].Filter).Mistake; m != nil {
			list = append(list, c.Problem(fmt.Sprintf("notify[%d].filter", i), m.Text))
		}
	}
	if m := configFilter(c, c.Metrics.Names).Mistake; m != nil {
		list = append(list, c.Problem("metrics.names", m.Text))
	}
	return list
}

// findings looks for causes in a Hub, as the board does.
type findings struct {
	r     *recording
	hub   *sources.Hub
	news  *sources.Subscription
	acts  []sources.Event // what people did
	mutes *operate.Mutes
	muted []mute.Mute // as they were read last
	wrong error       // why they cannot be read or kept
	index rows.Index
	began time.Time // when the program began to look
}

// mostActs bounds the actions by which a cause is explained.
const mostActs = 1000

// look returns what is found now; nil: this process does not record.
func (l *findings) look() *notify.Look {
	events, _ := l.news.Events(0)
	for i := range events {
		if events[i].Kind == sources.EventAction {
			l.acts = append(l.acts, events[i])
		}
	}
	l.acts = l.acts[max(len(l.acts)-mostActs, 0):]
	if !l.r.Active() || l.r.forwarder != nil && time.Since(l.r.forwarder.Wrote()) >= history.Silence {
		return nil
	}
	st, now := l.hub.State(), time.Now()
	l.index.Update(st, now)
	l.index.Sweep(now, nil)
	wrong := l.index.ProblemRowList()
	found := diagnose.Find(&diagnose.Input{
		Judge: l.index.Judge(), Rows: wrong, Now: now,
		Name: l.index.Shown, Began: l.began, Acts: l.acts, Runbooks: l.r.config.Runbooks,
	})
	in := &mute.Input{Judge: l.index.Judge(), Rows: wrong, Findings: found, Now: now, Matches: rows.Matcher(st, now)}
	muted := l.decide(in)
	return &notify.Look{
		Now: now, Findings: in.Findings, Muted: len(found) - muted.Unmuted,
		Known: func(ref sources.Ref) bool { return l.known(st, ref) },
	}
}

// decide finds out what is muted, and keeps what is so for the first time. While the mutes cannot be read, those that
// were read last hold.
func (l *findings) decide(in *mute.Input) mute.Decision {
	list, err := l.mutes.List()
	if err == nil {
		l.muted = list
	}
	in.Mutes = l.muted
	d := mute.Decide(in)
	if err == nil && d.Fresh {
		err = l.mutes.Pin(d.Mutes)
	}
	if err != nil && l.wrong == nil {
		l.r.logger.Warn("notifying: mutes", "err", err)
	}
	l.wrong = err
	return d
}

// known reports whether a State has the truth about a row, or about a source.
func (l *findings) known(st *sources.State, ref sources.Ref) bool {
	if row := l.hub.Row(st, ref); row != nil {
		return row.Watched(st)
	}
	return slices.ContainsFunc(st.Sources, func(s sources.SourceStatus) bool { return s.Name == ref.Source && s.Health == sources.HealthLive }) &&
		!slices.ContainsFunc(st.Scopes, func(c sources.Scope) bool {
			return c.Source == ref.Source && (c.Health != sources.HealthLive || !c.Synced)
		})
}

// matches returns whether a finding is one for a rule: grave enough, and about a row that its filter selects. One about
// a source is about all rows of it.
func (l *findings) matches(rule *config.Notify) func(*diagnose.Finding) bool {
	filter := configFilter(&l.r.config, rule.Filter)
	return func(f *diagnose.Finding) bool {
		if f.Severity > rule.Severity {
			return false
		}
		filter.At(l.index.Judge().State, time.Now())
		passes := func(row *sources.Row) bool {
			_, v := l.index.At(rows.HandleOf(row))
			return filter.Passes(row, v)
		}
		if len(f.Rows) > 0 {
			return slices.ContainsFunc(f.Rows, func(r diagnose.Row) bool { return passes(r.Row) })
		}
		for row := range l.index.Rows {
			if row.Source == f.Source && passes(row) {
				return true
			}
		}
		return slices.ContainsFunc(l.r.config.Sources, func(s config.Source) bool {
			alone := sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: s.Name}, Labels: s.Labels}}
			return s.Name == f.Source && filter.Passes(&alone, verdict.Verdict{})
		})
	}
}

// notify tells the receivers of the config what is found in hub while this process records, until ctx ends; beside joins
// it.
func (r *recording) notify(ctx context.Context, p *program, log *operate.AuditLog, hub *sources.Hub, beside *watched) {
	if r.Recorder == nil || len(r.config.Notify) == 0 {
		return
	}
	l := &findings{r: r, hub: hub, began: time.Now(), news: hub.Subscribe(0), mutes: operate.NewMutes(log)}
	l.acts = slices.DeleteFunc(slices.Clone(r.earlier), func(e sources.Event) bool { return e.Kind != sources.EventAction })
	l.index.Problems = true
	o := notify.Options{
		Path: r.notifiedPath(p.settings.stateFolder()), Look: l.look, Logger: r.logger,
		Payload: func(m *notify.Message) []byte { return headless.Notification(m, r.config.Title) },
	}
	for i := range r.config.Notify {
		rule := &r.config.Notify[i]
		deliver := notify.Post(func(ctx context.Context) (string, error) { return rule.Address(ctx, p.settings.lookup) })
		if len(rule.Command) > 0 {
			deliver = notify.Command(rule.Command)
		}
		s := rule.Secret
		o.Receivers = append(o.Receivers, notify.Receiver{
			Rule: notify.Rule{Matches: l.matches(rule), Encode: headless.FindingJSON},
			Key:  hashed("%d %q %q %q %q %q %q", rule.Severity, rule.Filter, rule.Command, rule.URL, s.Env, s.File, s.Command),
			Name: fmt.Sprintf("notify[%d]", i), Deliver: deliver,
		})
	}
	r.notifier = notify.New(o)
	beside.run(ctx, func() error {
		defer l.news.Close()
		return r.notifier.Run(ctx)
	})
}

// notifiedPath returns the path of the file that remembers what was sent, one for each recording; "": there is no folder
// for it.
func (r *recording) notifiedPath(folder string) string {
	name := "notified.json"
	if folder == "" {
		return ""
	}
	if !r.place.Ours {
		name = "notified-" + hashed("%s", r.place.Path) + ".json"
	}
	return filepath.Join(folder, name)
}

// hashed returns a short name for what must not be read in it.
func hashed(format string, args ...any) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, format, args...)))[:8]
}
