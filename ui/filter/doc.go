// Package filter is the language in which a person selects rows.
//
// It may import internal/ground/address, internal/ground/format.
//
//	orders !reconcile            words that must occur, or must not
//	kind=mutex wait>30s          fields of a Fields
//	source=leases and chg>2      a blank means "and" too
//	owner~host-1[0-3]            ~ and !~ take a regular expression, in any case of letters
//	since<10m or state=no-leader or binds less than and; parentheses group, ! negates
//	env=prod                     labels of sources
//	user=ana action=release      fields of the audit; result=? selects actions that have not ended
//	name="a name with blanks"    quotes; inside of them \" is a quote and \\ a backslash
//
// A word is searched in all texts of a row. Letters match in any case.
// Fields of time are compared with lengths (500ms, 30s, 10m, 1h30m, 2d); = compares in the smallest
// unit of the typed length. Some are also compared with a plain number: wait>3 compares the number
// of waiters.
//
// No comparison matches an unknown value, negated or not, except field=?; field!=? matches all known
// values. Of some numbers only bounds are known: a value of at least five minutes is more than four,
// and whether it is less than ten is unknown.
//
// Everything here is a pure function or a value: safe for concurrent use.
package filter
