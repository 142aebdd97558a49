package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"coordtop/internal/app/backends"
	"coordtop/internal/app/logfile"
	"coordtop/internal/config"
	"coordtop/internal/doctor"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// Errors of an examination.
var (
	errUnusable = errors.New("cannot be used")
	errDenied   = errors.New("refuses us")
)

func doctorCommand(p *program) *cobra.Command {
	var o output
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "doctor [URL | SOURCE ...]",
		Short: "Find out why a server cannot be watched, or what is missing on the board",
		Long: "Examines the URLs, else the sources of the config file and the store of its team, else the sources of the\n" +
			"environment, and prints a line for each check, then what is missing on the board because of them, and how to get\n" +
			"it. It writes nothing.\n\n" +
			"Exit code 0: all can be watched, perhaps with warnings; 3: a server refuses our user, or a right without\n" +
			"which nothing is shown; 10, which goes before 3: a server cannot be reached or used.",
		Example: "coordtop doctor 'rediss://ops@leases:6380/0?keys=app:lock:*'\ncoordtop doctor ledger -o json",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			if timeout == 0 {
				return usagef("--timeout must be longer than nothing, as 5s")
			}
			p.writeNothing()
			c, nothing := p.settings.found() // without sources there may be the store of a team
			if len(args) > 0 {
				c, _, nothing = p.settings.pick(args, false)
			}
			if nothing != nil && !errors.Is(nothing, errNothing) {
				return nothing
			}
			list, err := p.examine(cmd.Context(), c, timeout)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				list = append(list, examineStore(cmd.Context(), p, c, timeout)...)
			}
			verdict := verdictOf(list)
			list = append(list, doctor.Report{Name: "paths", Checks: p.settings.paths(c)})
			if o == "json" {
				return errors.Join(doctor.JSON(p.env.Stdout, list), nothing, verdict)
			}
			return errors.Join(doctor.Text(p.env.Stdout, list, p.colored()), nothing, verdict)
		}),
	}
	o.flag(cmd)
	lengthVar(cmd, &timeout, "timeout", 5*time.Second, "wait so long for a server to let us in, and twice as long for each other step")
	return cmd
}

// writeNothing keeps the log, and what sources remember, from being written.
func (p *program) writeNothing() {
	p.logging.Lock()
	defer p.logging.Unlock()
	p.logTo, p.settings.forgets = slog.New(slog.DiscardHandler), true
	backends.LogTo(p.logTo)
}

// colored reports whether text may have colours.
func (p *program) colored() bool {
	_, plain := p.env.Lookup("NO_COLOR")
	term, _ := p.env.Lookup("TERM")
	return p.env.Terminal() && !plain && term != "dumb"
}

// verdictOf returns an error for each source that cannot be used.
func verdictOf(list []doctor.Report) error {
	var bad []error
	for _, r := range list {
		worst := doctor.Worst(r.Checks)
		why := map[kit.Grade]error{kit.CheckRefused: errDenied, kit.CheckFailed: errUnusable}[worst]
		if why == nil {
			continue
		}
		text := ""
		for _, c := range r.Checks { // the last one tells what to do
			if c.Grade == worst {
				text = c.Text
			}
		}
		bad = append(bad, fmt.Errorf("%s %w: %s", r.Name, why, text))
	}
	return errors.Join(bad...)
}

// examine watches the sources until each is listed or has failed, and then examines each.
func (p *program) examine(ctx context.Context, c config.Config, timeout time.Duration) ([]doctor.Report, error) {
	specs, err := p.specs(c, p.logger())
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	for i := range specs {
		specs[i].Connect = timeout
	}
	var s *sources.State
	err = p.observeSpecs(ctx, specs, sources.HubOptions{}, func(ctx context.Context, hub *sources.Hub, _ *watched) (err error) {
		if _, err = headless.Settle(ctx, headless.Over(hub), 2*timeout, nil, time.Time{}); err == nil {
			err = backoff.Sleep(ctx, time.Second/2) // a source may negotiate its mode a little later
		}
		s = hub.State()
		return err
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	list := make([]doctor.Report, len(specs))
	var examining sync.WaitGroup
	for i, of := range s.Sources {
		if of.Err == nil && of.Health == sources.HealthConnecting {
			of.Err = fmt.Errorf("no answer in %v: give it longer with --timeout", 2*timeout)
		}
		r := &list[i]
		r.Name, r.Address = format.Clean(of.Name, 100), format.Clean(of.Address, 300)
		source, _ := specs[i].Source.(*configured)
		if source == nil || source.inner.Load() == nil { // its password or its files cannot be read
			r.Checks = []kit.Check{{Name: "options", Grade: kit.CheckFailed, Text: format.Clean(fmt.Sprint(of.Err), 600)}}
		} else if x, ok := (*source.inner.Load()).(kit.Examiner); ok {
			spawn.Go(ctx, &examining, func() { r.Checks = doctor.Examine(ctx, x, s, of) })
		}
	}
	examining.Wait()
	return list, nil
}

// examineStore looks who records into the store of a team. Without such a store it returns nothing.
func examineStore(ctx context.Context, p *program, c config.Config, timeout time.Duration) []doctor.Report {
	at := p.settings.historyPlace(c)
	if at.team == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	r := at.open()
	defer func() { _ = r.Close() }() // nothing was written
	check := kit.Check{Name: "recorder"}
	switch s, _, err := recorderNow(ctx, p, c, at, r); {
	case err != nil:
		check.Grade, check.Text = kit.CheckFailed, err.Error()
	case !s.Run.Live:
		check.Grade, check.Text = kit.CheckWarned, "nobody records at present: start coordtop record"
	default:
		check.Text = fmt.Sprintf("process %d on %s records, %d stand by", s.Run.PID, s.Run.Host, len(s.Standby))
	}
	check.Text = format.Clean(check.Text, 600)
	return []doctor.Report{{Name: "team's store", Address: format.Clean(at.String(), 300), Checks: []kit.Check{check}}}
}

// paths checks the files and folders that are used.
func (st *settings) paths(c config.Config) (list []kit.Check) {
	state := st.stateFolder()
	below := func(name string) string {
		if state == "" {
			return ""
		}
		return filepath.Join(state, name)
	}
	path, _ := st.locate()
	for _, used := range [][2]string{{"config", path}, {"state", state}, {"recording", st.historyPlace(c).Path}, {"audit", below(auditName)}, {"log", below(logfile.Name)}, {"cache", ""}} {
		check := kit.Check{Name: used[0], Text: cmp.Or(format.Clean(used[1], 300), "none")}
		there := used[1]
		for _, err := os.Stat(there); errors.Is(err, fs.ErrNotExist) && there != ""; _, err = os.Stat(there) {
			there = filepath.Dir(there)
		}
		if there != used[1] {
			check.Text += ", not there yet"
		}
		if used[0] != "config" && there != "" && unix.Access(there, unix.W_OK) != nil {
			check.Grade, check.Text = kit.CheckWarned, check.Text+": cannot be written: set XDG_STATE_HOME to a folder of your own"
		}
		list = append(list, check)
	}
	return list
}
