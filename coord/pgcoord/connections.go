package pgcoord

import "maps"

// connections are those that must be joined in the end. The type that has them locks them.
type connections map[*connection]struct{}

// add drops those that have ended, to keep the list short.
func (m connections) add(l *connection) {
	maps.DeleteFunc(m, func(old *connection, _ struct{}) bool {
		select {
		case <-old.done:
			return true
		default:
			return false
		}
	})
	m[l] = struct{}{}
}

// cut ends them at once and waits for that.
func (m connections) cut() {
	for l := range m {
		l.cut(errClosed)
	}
	for l := range m {
		<-l.done
	}
}
