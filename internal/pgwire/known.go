package pgwire

import "sync"

// Known is what the connections of one driver or source have found out and need not find
// out again. It is safe for concurrent use; the zero value and nil know nothing, and nil
// learns nothing.
type Known struct {
	mu      sync.Mutex
	own     map[string]bool // addresses behind which a pooler in session mode was found
	without bool            // the server refuses a parameter of the address
}

func (k *Known) givesSessions(address string) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.own[address]
}

func (k *Known) foundSessions(address string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.own == nil {
		k.own = map[string]bool{}
	}
	k.own[address] = true
}

func (k *Known) refusesParameters() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.without
}

func (k *Known) foundRefusal() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.without = true
}
