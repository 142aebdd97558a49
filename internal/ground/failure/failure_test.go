package failure_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"coordtop/internal/ground/failure"
)

func TestWithKeepsTheTextAndWrapsTheCauses(t *testing.T) {
	t.Parallel()
	broken, other := errors.New("broken"), errors.New("other")
	got := failure.With(broken, nil, context.Canceled, other)
	if got.Error() != "broken" {
		t.Errorf("it reads %q, want the text of the error alone", got)
	}
	for _, want := range []error{broken, context.Canceled, other} {
		if !errors.Is(got, want) {
			t.Errorf("it does not wrap %v", want)
		}
	}
}

func TestWithAddsNothingThatIsThereAlready(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("reading: %w", context.Canceled)
	for _, c := range []struct{ err, cause error }{{wrapped, context.Canceled}, {wrapped, nil}, {nil, context.Canceled}} {
		if got := failure.With(c.err, c.cause); got != c.err {
			t.Errorf("%v with %v becomes %v, want it unchanged", c.err, c.cause, got)
		}
	}
}

func TestIsAnyFindsOneOfTheTargets(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("reading: %w", context.Canceled)
	if !failure.IsAny(err, errors.ErrUnsupported, context.Canceled) || failure.IsAny(err, errors.ErrUnsupported) || failure.IsAny(nil, context.Canceled) {
		t.Error("want an error to be what it wraps, and nothing else")
	}
}

func TestSentenceIsFoundBelowOtherErrors(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("acquiring: %w", failure.Sentence("it is not known", nil, context.Canceled))
	var found interface{ Sentence() string }
	if !errors.As(err, &found) || found.Sentence() != "it is not known" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want its sentence and its cause found", err)
	}
}
