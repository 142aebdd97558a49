package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/internal/headless"
	"coordtop/internal/job"
	"coordtop/internal/operate"
	"coordtop/internal/underlease"
	"coordtop/sources"
)

// workAuditName is the audit of lock and elect, in the state folder: a file of its own, so that a job of every minute
// does not push out of the audit what people did.
const workAuditName = "work.jsonl"

// work is a claim with the command under its lease.
type work struct {
	*workOptions
	p       *program
	source  config.Source
	backend operate.Backend
	request action.Request
	options coord.SessionOptions
	command []string
	name    string // for messages
	display *waitDisplay
	owner   sources.OwnerRef // us, with the last lease; zero: there was none
}

// newWork reads the arguments of lock and elect. kind is that of the primitive unless the URL or the config says it.
func newWork(p *program, cmd *cobra.Command, args []string, o *workOptions, r action.Request, kind sources.Kind) (*work, error) {
	switch dash := cmd.ArgsLenAtDash(); {
	case len(args) == 0 || dash == 0:
		return nil, usagef("the name is missing: coordtop %s NAME -- COMMAND", cmd.Name())
	case dash != 1 && len(args) > 1:
		return nil, usagef("write -- between the name and the command: coordtop %s NAME -- COMMAND", cmd.Name())
	}
	c, name, space, err := p.settings.pickOne(args[0], false)
	if err != nil {
		return nil, err
	}
	w := &work{workOptions: o, p: p, source: c.Sources[0], request: r, command: args[1:]}
	sure := confirmation{write: true, yes: true, reason: o.reason} // it is the caller's own work
	if err := sure.check(w.source, cmd.Name(), false); err != nil {
		return nil, err
	}
	if w.request.Target, err = targetOf(&p.settings, c, name, space, kind); err != nil {
		return nil, err
	}
	if err := checkKind(w.request.Target.Kind, r.Verb == action.Campaign, "elect", "lock"); err != nil {
		return nil, err
	}
	w.name = format.Clean(w.request.Target.Ref.FullName(), 200)
	w.backend = p.backend(w.source, identityOf(c.Identity, actor(p.env.Lookup)))
	w.request.Data, w.request.Reason = []byte(o.data), o.reason
	if w.request.Session, err = o.wishes(); err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("wait") {
		o.wait = coord.Forever
	} else if o.wait == 0 {
		w.request.Verb = action.Try
	}
	if err := w.backend.Admits(w.request); err != nil {
		return nil, err
	}
	if w.options, err = w.backend.SessionOptions(w.request.Session); err != nil {
		return nil, err
	}
	return w, w.setGrace()
}

// setGrace makes room for the grace in the margin of the session.
func (w *work) setGrace() error {
	window := cmp.Or(w.options.TTL, w.backend.Lease)
	if w.grace > window/2 {
		return usagef("--grace takes at most half of the lease, %v here: --lease makes it longer where the server can", window/2)
	}
	if w.grace > 0 {
		w.options.Margin = w.grace + coord.DefaultMargin(window)
		if w.request.Session.RenewEvery == 0 { // a second try must fit into what is left
			w.options.RenewEvery = min(w.options.RenewEvery, (window-w.options.Margin)/2)
		}
	}
	return nil
}

// targetOf finds the primitive that a NAME or a URL means, without asking the server. kind is that of a primitive whose
// kind neither the URL nor the config says.
func targetOf(st *settings, c config.Config, name, space string, kind sources.Kind) (t action.Target, err error) {
	s, key := c.Sources[0], ""
	if name == "" {
		key, _ = glob.Pattern(s.Watch[0].Pattern).Literal()
	} else {
		key = name[len(s.Name)+1:]
	}
	if space == "" {
		prepared, err := st.prepared(s, c)
		if err == nil {
			space, key, err = prepared.Place(key)
		}
		if err != nil {
			return t, usageError{err}
		}
	}
	for number, alias := range c.Names[s.Name] {
		if alias == key {
			t.Alias, key = alias, number
		}
	}
	t.Ref, t.Kind = sources.Ref{Source: s.Name, Space: space, Name: key}, kind
	for _, watched := range s.Watch {
		if watched.Kind != sources.KindUnknown && glob.Pattern(watched.Pattern).Match(key) {
			t.Kind = watched.Kind
			break
		}
	}
	return t, nil
}

// do claims, does the work, and writes both lines of the audit.
func (w *work) do(ctx context.Context, how func(context.Context, underlease.Options) (job.Result, error)) error {
	if len(w.command) > 0 {
		if code, err := job.Runnable(w.command); err != nil {
			return &ending{code, fmt.Errorf("%w: nothing was claimed", err)}
		}
	}
	defer w.p.unfinished.begin()()
	end := w.begin(ctx)
	result, err := w.claim(ctx, how)
	done := w.end(result, err)
	phase := action.Seen
	switch {
	case errors.Is(err, underlease.ErrMissed):
		phase = action.Missed
	case err != nil || result.Lost != nil:
		phase = action.Failed
	}
	end(phase, cmp.Or(done.Error(), fmt.Sprintf("exit code %d", result.Code)))
	return done
}

// claim opens the driver and claims.
func (w *work) claim(ctx context.Context, how func(context.Context, underlease.Options) (job.Result, error)) (job.Result, error) {
	opening, cancel := context.WithTimeout(ctx, findFor)
	driver, err := w.backend.Open(opening, w.request.Target.Ref.Space)
	cancel()
	if err != nil {
		return job.Result{}, err
	}
	if w.wait != 0 {
		w.display = w.newWaitDisplay()
	}
	defer w.display.wait()
	defer func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), findFor)
		defer cancel()
		_ = driver.Close(late) // its sessions are closed, and what they could not give back was printed
	}()
	o := underlease.Options{
		Driver: driver, Session: w.options, Wait: w.wait, Work: w.work, Say: w.say,
		Explain: func(err error) string { text, _ := w.backend.Sentence(err); return text },
		Claim: func(ctx context.Context, s *coord.Session, wait time.Duration) (*coord.Lease, error) {
			r := w.request
			r.Wait = wait
			stop := w.display.begin(ctx)
			l, err := w.backend.Claim(ctx, s, r)
			stop(l != nil)
			return l, err
		},
	}
	o.Session.OnTrouble = w.display.onTrouble
	if w.request.Target.Kind != sources.KindElection { // a candidate is a service, and may be there before its server
		o.StartWithin = cmp.Or(w.options.StartTimeout, findFor)
	}
	return how(ctx, o)
}

// work runs the command under a lease.
func (w *work) work(ctx context.Context, l *coord.Lease) (job.Result, error) {
	w.owner = sources.OwnerRef{ID: l.Owner(), Label: w.backend.Label(w.request.Session), Fence: l.Fence()}
	if len(w.command) == 0 {
		return underlease.Idle(ctx, l)
	}
	env := &w.p.env
	o := job.Options{
		Args: w.command, Env: env.Environ, Name: w.request.Target.Ref.Name, Owner: l.Owner(), Fence: l.Fence(),
		Grace: w.grace, Folder: w.p.settings.stateFolder(), Say: w.say, KeepLinks: !w.backend.RunsOut,
	}
	o.Stdin, _ = env.Stdin.(*os.File)
	o.Stdout, _ = env.Stdout.(*os.File)
	o.Stderr, _ = env.Stderr.(*os.File)
	if env.HandOver != nil {
		signals, back := env.HandOver()
		defer back()
		o.Signals = signals
	}
	return job.Run(ctx, l, o)
}

// environ returns the environment of a hook.
func (w *work) environ(l *coord.Lease) []string {
	return job.Environ(w.p.env.Environ, w.request.Target.Ref.Name, l.Owner(), l.Fence())
}

// say prints a line for people. It waits a bounded time for a reader: the lease must be given back also without one.
func (w *work) say(text string) {
	inTime(context.Background(), func() { fmt.Fprintf(w.p.env.Stderr, "coordtop: %s: %s\n", w.name, text) })
}

// begin writes the first line of the audit. If it cannot be written, a warning is printed: a full disk does not stop a
// nightly job. The function that it returns writes the second line.
func (w *work) begin(ctx context.Context) (end func(result action.Phase, detail string)) {
	dir := w.p.settings.stateFolder()
	log := operate.NewAuditLog(filepath.Join(dir, workAuditName), actor(w.p.env.Lookup))
	second, err := log.Begin(ctx, &w.backend, w.request)
	if err != nil {
		w.say("going on without an audit: " + err.Error())
		return func(action.Phase, string) {}
	}
	return func(result action.Phase, detail string) {
		if err := second(result, detail, w.owner); err != nil {
			w.say("the audit lacks its second line: " + err.Error())
		}
	}
}

// ending is an end with an exit code that no error of ours has.
type ending struct {
	code  int
	cause error // nil: nothing is to be said
}

func (e *ending) Error() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}

func (e *ending) Unwrap() error { return e.cause }

// end returns the exit code of the command, or the failure of ours.
func (w *work) end(r job.Result, err error) error {
	if err == nil && r.Lost == nil {
		return &ending{code: r.Code}
	}
	text, refused := w.backend.Sentence(cmp.Or(err, r.Lost))
	signal, signalled := errors.AsType[*signalled](err)
	switch {
	case err == nil:
		return &ending{exitLost, fmt.Errorf("%s: the lease is over, the command was ended: %s", w.name, text)}
	case r.Code != 0:
		return &ending{r.Code, err}
	case signalled:
		before := "it was ours"
		if w.owner.ID != "" {
			before = "the command started"
		}
		return &ending{signal.exitCode(), fmt.Errorf("%s: ended by a signal (%v) before %s", w.name, signal.signal, before)}
	case errors.Is(err, underlease.ErrMissed) && w.conflictExit == 0:
		return &ending{}
	case errors.Is(err, underlease.ErrMissed):
		return &ending{int(w.conflictExit), fmt.Errorf("%s: %s", w.name, text)}
	}
	kind := err
	switch {
	case !refused && errors.Is(err, coord.ErrNotFound):
		text, kind = "there is no semaphore of this name: create it first, as coordtop semaphore create does", operate.ErrNotPossible
	case refused || errors.Is(err, underlease.ErrNoAnswer):
		kind = headless.ErrNoAnswer
	case failure.IsAny(err, coord.ErrUnsupported, coord.ErrRefused, coord.ErrDataTooLong, coord.ErrInvalid):
		kind = operate.ErrNotPossible
	}
	return w.failure(failure.Sentence(w.name+": "+text, kind, err))
}

// failure returns a failure of ours, with the exit code of --error-exit if that is given.
func (o *workOptions) failure(err error) error {
	if o.error != 0 {
		return &ending{int(o.error), err}
	}
	return err
}
