// Package pack writes values as what differs from earlier ones, and reads them back by the
// very same calls, so that a field is named once.
//
// A struct is the bits of its fields that differ from those of an earlier struct, and these
// fields. A field has the bit of its position: new ones come last, and a reader that knows fewer
// fails with [ErrNewer] instead of misreading. A text of 256 bytes at most is written once in a
// Stream; from then on its number is. A time is written as its distance, to the nanosecond, from
// the last one or from where it is expected.
//
// Reading takes any bytes: it never panics, and each byte of them makes it allocate as much as
// one element of a list at most.
package pack
