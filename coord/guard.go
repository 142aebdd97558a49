package coord

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Guard calls f and makes an error of its panic, which wraps ErrPanic and names the line.
// What talks to a service in a goroutine of its own is called through it: a defect there
// ends one lease, and not a program that has others to give back and a terminal to restore.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v, at %s", ErrPanic, v, panicked())
		}
	}()
	return f()
}

// panicked is the line of the panic that is being recovered from by the caller.
func panicked() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // from the panic on
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "a line that is not known"
		}
	}
}
