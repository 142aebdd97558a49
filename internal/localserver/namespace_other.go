//go:build !linux

package localserver

import "errors"

// inside is a network namespace, which does not exist on this system.
type inside struct{}

func newInside() (inside, error) {
	return inside{}, errors.New("this system has no network namespaces")
}

func (inside) do(f func() error) error { return f() }

func (inside) path() string { return "" }

func (inside) close() {}
