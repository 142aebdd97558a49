package sources

import "errors"

// ErrRefused says that a backend answered and will not serve us as we are: a wrong
// password, a missing right, a version that cannot be read. A Connect that wraps it
// is retried rarely.
var ErrRefused = errors.New("refused")
