package pgsource

import (
	"encoding/binary"
	"strconv"
)

// fields is one row in the binary format. It is valid until the next row is read.
type fields [][]byte

// pgEpoch is the origin of Postgres' timestamps, in Unix microseconds: 2000-01-01 UTC.
const pgEpoch = 946_684_800_000_000

// textKept is the maximum number of bytes kept of a text. The server already cuts the texts that we read to less.
const textKept = 4 << 10

func (f fields) null(i int) bool   { return f[i] == nil }
func (f fields) text(i int) string { return string(f[i][:min(len(f[i]), textKept)]) }
func (f fields) yes(i int) bool    { return len(f[i]) == 1 && f[i][0] == 1 }

func (f fields) number16(i int) uint16 {
	if len(f[i]) != 2 {
		return 0
	}
	return binary.BigEndian.Uint16(f[i])
}

// number32 returns an int4 or oid, or 0 for null.
func (f fields) number32(i int) uint32 {
	if len(f[i]) != 4 {
		return 0
	}
	return binary.BigEndian.Uint32(f[i])
}

// micros returns a timestamptz in Unix microseconds, or 0 for null.
func (f fields) micros(i int) int64 {
	if len(f[i]) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(f[i])) + pgEpoch
}

// array appends an int4[] as text.
func array(dst []byte, list []uint32) []byte {
	dst = append(dst, '{')
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(n), 10)
	}
	return append(dst, '}')
}
