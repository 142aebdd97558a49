package sources

// EndsOwner says whether an event of this kind tells that Event.Previous no longer owns
// the primitive.
func (k EventKind) EndsOwner() bool {
	return k == EventReleased || k == EventExpired || k == EventOwnerChanged
}

// BeginsOwner says whether an event of this kind tells that Event.Owner owns the
// primitive from now on, or did already when we first looked. An EventPresent
// without an Owner tells that nobody does.
func (k EventKind) BeginsOwner() bool {
	return k == EventAcquired || k == EventOwnerChanged || k == EventPresent
}
