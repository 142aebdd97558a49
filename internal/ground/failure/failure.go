package failure

import (
	"errors"
	"slices"
)

// With returns err so that it also wraps the causes. Its text stays that of err. A cause that is
// nil, or that err wraps already, adds nothing; of a nil err it returns nil.
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

// Sentence returns an error for people: text says all that they need, and the causes are only
// wrapped. It has a method Sentence, by which a reader finds it below what other errors put in
// front of their cause.
func Sentence(text string, causes ...error) error {
	return &sentence{wrapping{text, slices.DeleteFunc(slices.Clone(causes), func(c error) bool { return c == nil })}}
}

type wrapping struct {
	text   string
	causes []error
}

func (w *wrapping) Error() string   { return w.text }
func (w *wrapping) Unwrap() []error { return w.causes }

type sentence struct{ wrapping }

func (s *sentence) Sentence() string { return s.text }
