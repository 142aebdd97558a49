package pgwire

import (
	"sync"
	"sync/atomic"
)

// Known is what the connections of one driver or source have found out and need not find
// out again. It is safe for concurrent use; the zero value knows nothing.
type Known struct {
	own     sync.Map    // the addresses behind which a pooler in session mode was found
	refuses atomic.Bool // the server refuses a parameter of the address
}
