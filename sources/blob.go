package sources

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"hash/maphash"

	"coordtop/internal/mask"
)

// BlobHead is how many bytes of a value are kept.
const BlobHead = 4096

// Blob is the beginning of a value that may be huge. With a Len and no Head it is a secret
// of which nothing but the length is told.
type Blob struct {
	Head string // at most BlobHead bytes, secrets masked: not cleaned for a terminal, perhaps not UTF-8
	Len  int    // of the whole value as it is shown, in bytes
	Sum  uint64 // of what was read; equal sums are taken as equal data. With masked secrets it is of this run of the program only
}

// NewBlob keeps the beginning of a value of size bytes, of which data is as much as was
// read. It copies what it keeps. The secrets that internal/mask finds do not get into the Blob;
// the Sum tells the values apart none the less.
func NewBlob(data []byte, size int) Blob {
	if size == 0 {
		return Blob{}
	}
	head := data[:min(len(data), BlobHead)]
	shown := mask.Text(string(head))
	sum := PlainSum(shown, size)
	if shown != string(head) { // of a sum that others can make, a short secret could be found
		keyed := new(maphash.Hash)
		keyed.SetSeed(sumSeed)
		sum = sumOf(keyed, string(head), size)
	}
	size += len(shown) - len(head)
	return Blob{Head: shown[:min(len(shown), BlobHead)], Len: size, Sum: sum}
}

// PlainSum is the Sum of a value of size bytes that begins with head and has no secrets.
func PlainSum(head string, size int) uint64 { return sumOf(fnv.New64a(), head, size) }

func sumOf(h hash.Hash64, head string, size int) uint64 {
	_, _ = h.Write([]byte(head)) // it never fails
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	return h.Sum64()
}

// sumSeed is drawn anew in each run.
var sumSeed = maphash.MakeSeed()

// changed reports whether b is other data than before. A Sum of 0 is not known.
func (b Blob) changed(before Blob) bool {
	return b.Len != before.Len || b.Sum != before.Sum && b.Sum != 0 && before.Sum != 0
}

// Masked reports whether something of the value is not shown because it is a secret.
func (b Blob) Masked() bool { return mask.Masked(b.Head) }

// Shows reports whether b was made of data, as far as that was read.
func (b Blob) Shows(data []byte) bool {
	return b == NewBlob(data, len(data))
}
