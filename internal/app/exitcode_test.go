package app

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"coordtop/internal/config"
	"coordtop/internal/foreground"
	"coordtop/internal/headless"
	"coordtop/internal/operate"
)

// The numbers are an interface: scripts compare them.
func TestEachErrorKeepsItsExitCode(t *testing.T) {
	t.Parallel()
	for code, errs := range map[int][]error{
		0: {nil, syscall.EPIPE},
		1: {errors.New("another"), operate.ErrNotArmed, operate.ErrNoAudit, operate.ErrClosed},
		2: {usagef("wrong"), &config.Problems{}, headless.ErrAmbiguous, operate.ErrUnconfirmed},
		3: {headless.ErrNoAnswer, headless.ErrCredentials, headless.ErrRefused, errDenied},
		4: {headless.ErrNotFound},
		5: {headless.ErrIncomplete, foreground.ErrMissed, operate.ErrTaken},
		6: {operate.ErrChanged},
		7: {operate.ErrNotPossible},
		8: {operate.ErrReadOnly},
		9: {foreground.ErrLost},

		10: {headless.ErrFailed, errUnusable, errors.Join(errDenied, errUnusable)},
	} {
		for _, err := range errs {
			if err != nil {
				err = fmt.Errorf("doing it: %w", err)
			}
			if got := exitCode(err); got != code {
				t.Errorf("%v: exit code %d, want %d", err, got, code)
			}
		}
	}
}
