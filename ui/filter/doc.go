// Package filter is the language in which a person says which rows to show.
//
//	orders !reconcile            words that must occur, that must not
//	kind=mutex wait>30s          fields: a Fields says which there are
//	source=leases and chg>2      and is what a blank means too
//	owner~host-1[0-3]            ~ and !~ take a regular expression, in any case of letters
//	since<10m or state=no-leader or binds less than and; parentheses group, ! negates
//	env=prod                     labels of sources
//	user=ana action=release      fields of the audit; result=? is what has no end yet
//	name="a name with blanks"    quotes; inside of them \" is a quote and \\ a backslash
//
// A word is looked for in all that is written about a row. Letters match in any case.
// Fields of time are compared with lengths (500ms, 30s, 10m, 1h30m, 2d); = means the same in the
// smallest unit written. Some are also compared with a plain number, as wait: how many wait.
//
// An unknown value is neither more nor less than anything, equal to nothing and
// different from nothing: no comparison matches it, negated or not, but field=?, and
// field!=? is all that is known. Of a number only bounds may be known: what is at least five
// minutes is more than four, and whether it is less than ten is not known.
//
// Everything here is a pure function or a value: safe for concurrent use.
package filter
