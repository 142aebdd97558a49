package pgsource

import (
	"slices"

	"coordtop/sources"
)

// mode is a lock mode of Postgres. SQL functions use only two of them for advisory locks; extensions may use any.
type mode uint8

const (
	modeUnknown mode = iota
	accessShare
	rowShare
	rowExclusive
	shareUpdateExclusive
	share
	shareRowExclusive
	exclusive
	accessExclusive
)

var modeNames = [...]string{"", "AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock",
	"ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"}

// conflicting has the modes with which each mode conflicts, as bits (the table "Conflicting Lock Modes" of the manual,
// chapter "Explicit Locking"). An unknown mode excludes all.
var conflicting = [...]uint16{
	modeUnknown:          0x1ff,
	accessShare:          bits(accessExclusive),
	rowShare:             bits(exclusive, accessExclusive),
	rowExclusive:         bits(share, shareRowExclusive, exclusive, accessExclusive),
	shareUpdateExclusive: bits(shareUpdateExclusive, share, shareRowExclusive, exclusive, accessExclusive),
	share:                bits(rowExclusive, shareUpdateExclusive, shareRowExclusive, exclusive, accessExclusive),
	shareRowExclusive:    bits(rowExclusive, shareUpdateExclusive, share, shareRowExclusive, exclusive, accessExclusive),
	exclusive: bits(rowShare, rowExclusive, shareUpdateExclusive, share, shareRowExclusive, exclusive,
		accessExclusive),
	accessExclusive: 0x1ff,
}

func bits(list ...mode) uint16 {
	set := uint16(1) << modeUnknown
	for _, m := range list {
		set |= 1 << m
	}
	return set
}

// modeOf returns the mode with this name, or the unknown mode.
func modeOf(name []byte) mode { return mode(max(slices.Index(modeNames[:], string(name)), 0)) }

// conflicts reports whether a session that wants m must wait while another owns the lock in the other mode.
func (m mode) conflicts(other mode) bool { return conflicting[m]&(1<<other) != 0 }

// shown returns the mode for the screen: shared if several sessions may own the lock in it.
func (m mode) shown() sources.Mode {
	if m.conflicts(m) {
		return sources.Exclusive
	}
	return sources.Shared
}

func (m mode) word() string {
	if m == exclusive || m == share {
		return m.shown().String()
	}
	return modeNames[m]
}
