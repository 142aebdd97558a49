package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"coordtop/internal/config"
	"coordtop/internal/drill"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/failure"
	"coordtop/internal/headless"
	"coordtop/internal/operate"
)

// Exit codes, as the topic exit-codes lists them.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitNoAnswer = 3
	exitNotFound = 4
	exitTimeout  = 5
	exitChanged  = 6
	exitCannot   = 7
	exitReadOnly = 8
	exitLost     = 9
	exitFailed   = 10
)

// exitMeanings returns the meaning of each code, for people.
func exitMeanings() []string {
	return []string{
		exitOK:       "done",
		exitError:    "error",
		exitUsage:    "wrong arguments or config, or not confirmed",
		exitNoAnswer: "a source did not answer, or refused the login (get prints the other sources)",
		exitNotFound: "no such name",
		exitTimeout:  "a source was not read in full within --timeout; of wait: it was not so by then; of acquire, campaign, lock and elect: not ours within --wait",
		exitChanged:  "the owner changed, or nobody owns it; nothing was done",
		exitCannot:   "not possible, the message says why",
		exitReadOnly: "the source is read_only",
		exitLost:     "the lease was lost",
		exitFailed:   "get found what --fail-on names, why something wrong, slo a missed objective, record --status nobody who records, or doctor a server that cannot be used",
	}
}

// exitList returns exitMeanings in one line.
func exitList() string {
	var list []string
	for code, text := range exitMeanings() {
		list = append(list, fmt.Sprintf("%d %s", code, text))
	}
	return strings.Join(list, "; ")
}

// usageError reports a wrong command line or config.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode finds the code of an error.
func exitCode(err error) int {
	var usage usageError
	var problems *config.Problems
	var own *ending
	switch {
	case errors.As(err, &own):
		return own.code
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK // the reader of our output needs no more of it
	case errors.As(err, &usage), errors.As(err, &problems), errors.Is(err, headless.ErrAmbiguous):
		return exitUsage
	case errors.Is(err, headless.ErrFailed), errors.Is(err, headless.ErrFound), errors.Is(err, headless.ErrMissed), errors.Is(err, headless.ErrNobodyRecords), errors.Is(err, errUnusable):
		return exitFailed
	case errors.Is(err, headless.ErrNotInTime), errors.Is(err, drill.ErrNoLeader):
		return exitTimeout
	case errors.Is(err, headless.ErrNoAnswer), errors.Is(err, headless.ErrCredentials), errors.Is(err, headless.ErrRefused),
		errors.Is(err, foreground.ErrRefused), errors.Is(err, errDenied), errors.Is(err, drill.ErrStale), errors.Is(err, headless.ErrNotKnown):
		return exitNoAnswer
	case errors.Is(err, headless.ErrNotFound):
		return exitNotFound
	case errors.Is(err, headless.ErrIncomplete), errors.Is(err, headless.ErrPartial), errors.Is(err, foreground.ErrMissed), errors.Is(err, operate.ErrTaken):
		return exitTimeout
	case errors.Is(err, operate.ErrUnconfirmed):
		return exitUsage
	case errors.Is(err, operate.ErrChanged), errors.Is(err, foreground.ErrChanged), errors.Is(err, errUnowned), errors.Is(err, drill.ErrStranger):
		return exitChanged
	case errors.Is(err, operate.ErrNotPossible), errors.Is(err, foreground.ErrNotPossible):
		return exitCannot
	case errors.Is(err, operate.ErrReadOnly):
		return exitReadOnly
	case errors.Is(err, foreground.ErrLost):
		return exitLost
	}
	return exitError
}

// report prints the error and returns the exit code. After a signal that ends Go programs with the stacks of
// their goroutines it prints those, whatever the result of the command.
func (p *program) report(ctx context.Context, err error) int {
	if abort := abortOf(context.Cause(ctx)); abort != nil {
		sayStacks(ctx, p.env.Stderr, abort)
		return abort.exitCode()
	}
	code := exitCode(err)
	if code == exitOK || p.said {
		return code
	}
	text := err.Error()
	if text == "" {
		return code
	}
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	if failure.IsAny(err, headless.ErrFailed, errUnusable, errDenied) { // a line for each finding
		text = strings.ReplaceAll(text, "\n", "\ncoordtop: ")
	}
	fmt.Fprintf(p.env.Stderr, "coordtop: %s\n", text)
	return code
}
