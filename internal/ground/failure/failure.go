package failure

import (
	"errors"
	"slices"
)

// With returns an error with the text of err that also wraps the causes. It ignores a cause that is nil or that err
// wraps already. It returns nil if err is nil.
func With(err error, causes ...error) error {
	if err == nil {
		return nil
	}
	more := slices.DeleteFunc(slices.Clone(causes), func(c error) bool { return c == nil || errors.Is(err, c) })
	if len(more) == 0 {
		return err
	}
	return &wrapping{err.Error(), append([]error{err}, more...)}
}

// IsAny reports whether err wraps one of the targets.
func IsAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
}

// Sentence returns an error for people. Its text is complete without the causes, which it only wraps. It has a method
// Sentence, by which callers find the text inside errors that put other words before it.
func Sentence(text string, causes ...error) error {
	return &sentence{wrapping{text, slices.DeleteFunc(slices.Clone(causes), func(c error) bool { return c == nil })}}
}

// Complete reports whether err wraps an error that Sentence returned.
func Complete(err error) bool {
	_, is := errors.AsType[*sentence](err)
	return is
}

type wrapping struct {
	text   string
	causes []error
}

func (w *wrapping) Error() string   { return w.text }
func (w *wrapping) Unwrap() []error { return w.causes }

type sentence struct{ wrapping }

func (s *sentence) Sentence() string { return s.text }
