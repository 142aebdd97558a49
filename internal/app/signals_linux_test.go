package app

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What a terminal has not read can be thrown away on Linux only.
func TestAStoppedTerminalKeepsNoLeaseFromBeingGivenBack(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGQUIT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			l := lead(t, nil)
			if err := unix.IoctlSetInt(int(l.tty.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
				t.Fatal(err)
			}
			for range 20 {
				l.keys("?") // the help, and back: it has something to write
			}
			l.signal(s)
			if s == syscall.SIGTERM {
				l.ended(exitOK)
			} else {
				l.ended(128 + int(s))
			}
		})
	}
}
