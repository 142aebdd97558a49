// Package pack writes values as their differences from earlier ones, and reads them back with the
// same calls, so that each field is named once.
//
// It may import nothing of this module.
//
// A struct is written as one bit for each field, set if the field differs from that of an earlier struct, followed by
// the fields that differ. The position of a field determines its bit, so that new fields must come last, and a reader
// that knows fewer fields fails with [ErrNewer] instead of misreading. A text of at most 256 bytes is written once in a
// Stream, and then replaced by its number. A time is written as its distance, to the nanosecond, from the last one or
// from an expected one.
//
// Reading accepts any bytes: it never panics, and allocates at most one list element for each byte.
package pack
