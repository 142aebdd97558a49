package pgsource

import "coordtop/sources"

func (t *taking) alias(l *lock, _ *sources.Primitive) string {
	return t.board.names[l.key]
}
