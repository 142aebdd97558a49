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
	all := []error{err}
	for _, c := range causes {
		if c != nil && !errors.Is(err, c) {
			all = append(all, c)
		}
	}
	if len(all) == 1 {
		return err
	}
	return &wrapping{err.Error(), all}
}

// IsAny reports whether err wraps one of the targets.
func IsAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
}

// Sentence returns an error for people: text says all that they need, and the causes are only
// wrapped. It has a method Sentence, by which a reader finds it below what other errors put in
// front of their cause.
func Sentence(text string, causes ...error) error {
	all := make([]error, 0, len(causes))
	for _, c := range causes {
		if c != nil {
			all = append(all, c)
		}
	}
	return &sentence{wrapping{text, all}}
}

type wrapping struct {
	text   string
	causes []error
}

func (w *wrapping) Error() string   { return w.text }
func (w *wrapping) Unwrap() []error { return w.causes }

type sentence struct{ wrapping }

func (s *sentence) Sentence() string { return s.text }
