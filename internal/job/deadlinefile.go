package job

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
)

// ends are two instants of the boot-time clock, see bootTime.
type ends struct {
	trust time.Duration // of the lease, if nothing renews it
	kill  time.Duration // the latest instant at which KILL is sent
}

// endsOf reads the ends of a lease. The clock is read first: a pause of this process between the readings then makes the
// ends earlier, which is safe.
func endsOf(l Lease, grace time.Duration) ends {
	now := bootTime()
	trust, window := l.TrustedUntil(), l.WindowEnd()
	kill := trust.Add(grace)
	if kill.After(window) {
		kill = window
	}
	return ends{trust: now + time.Until(trust), kill: now + time.Until(kill)}
}

// deadlineFile is the file that tells the command how long its lease is trusted. Its goroutine writes it, because a
// broken disk must not delay anything else. What it has then not written is an end that came later.
type deadlineFile struct {
	path   string
	folder *os.File // nil: there is no file
	trust  chan time.Duration
	say    func(string)
	gone   chan struct{} // closed when the goroutine has ended
}

// newDeadlineFile writes the file. If no folder can have it within unkillable, it warns; path then names no file.
func newDeadlineFile(ctx context.Context, folder string, trust time.Duration, say func(string)) *deadlineFile {
	d := &deadlineFile{path: "deadline-" + rand.Text(), trust: make(chan time.Duration, 1), say: say, gone: make(chan struct{})}
	folders := []string{folder}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); runtime != "" { // it is empty after a boot
		folders = []string{filepath.Join(runtime, "coordtop"), folder}
	}
	bounded, cancel := context.WithTimeout(ctx, unkillable)
	defer cancel()
	opened, err := spawn.Within(bounded, 0, func() (opened *os.File, err error) {
		for _, path := range folders {
			if opened, _, err = files.PrivateFolder(path); err != nil {
				continue
			}
			if err = writeDeadline(opened, d.path, trust); err == nil {
				return opened, nil
			}
			opened.Close()
		}
		return nil, err
	})
	if err != nil {
		say(fmt.Sprintf("no deadline file: %s; coordtop lock --check answers no, see $XDG_RUNTIME_DIR", format.Clean(err.Error(), 300)))
		close(d.gone)
		return d
	}
	name := d.path
	d.path, d.folder = filepath.Join(opened.Name(), name), opened
	spawn.Go(ctx, nil, func() { // it closes gone at its end
		defer close(d.gone)
		for trust := range d.trust {
			if err := writeDeadline(opened, name, trust); err != nil {
				d.say("the deadline file is not renewed: " + format.Clean(err.Error(), 300))
			}
		}
	})
	return d
}

// writeDeadline replaces the file.
func writeDeadline(folder *os.File, name string, trust time.Duration) error {
	at := time.Now().Add(trust - bootTime())
	line := fmt.Sprintf("%d %s\n", trust, at.UTC().Format(time.RFC3339Nano))
	return files.Replace(folder, name, []byte(line))
}

// publish makes the goroutine write a later end. It does not block.
func (d *deadlineFile) publish(trust time.Duration) {
	select {
	case <-d.trust: // nobody has written it yet
	default:
	}
	d.trust <- trust // there is room, as nobody else sends
}

// remove removes the file, unless its disk does not answer.
func (d *deadlineFile) remove() {
	close(d.trust)
	select {
	case <-d.gone:
	case <-time.After(unkillable):
		return
	}
	if d.folder != nil {
		_ = os.Remove(d.path) // CheckDeadline soon says no anyway
		_ = d.folder.Close()
	}
}

// CheckDeadline returns nil while the lease of a command is trusted, by the deadline file at path. Both times of the
// file must lie in the future: after a boot the first one alone may seem to.
func CheckDeadline(path string) error {
	text, _, err := files.Read(context.Background(), path, 200)
	if err != nil {
		return fmt.Errorf("the deadline file cannot be read: %w", err)
	}
	boot, day, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	until, err1 := time.ParseDuration(boot + "ns")
	at, err2 := time.Parse(time.RFC3339Nano, day)
	switch {
	case err1 != nil || err2 != nil:
		return fmt.Errorf("%s is no deadline file", format.Clean(path, 200))
	case bootTime() >= until || !time.Now().Before(at):
		return fmt.Errorf("the lease is not trusted since %s", at.Local().Format(time.TimeOnly))
	}
	return nil
}

// bootTime reads the clock that counts from the boot of the machine, also while the machine is suspended.
func bootTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(bootClock, &now); err != nil {
		panic(fmt.Sprintf("the boot-time clock cannot be read: %v", err)) // each system has it
	}
	return time.Duration(now.Nano())
}
