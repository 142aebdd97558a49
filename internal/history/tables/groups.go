package tables

import (
	"time"

	"github.com/klauspost/compress/zstd"

	"coordtop/internal/history"
	"coordtop/sources"
)

// The size or age at which the pieces of a group become a chunk.
const (
	chunkBytes = 256 << 10
	chunkAge   = time.Minute
)

// openGroup is the state of the last group in the file, to which pieces are appended.
type openGroup struct {
	id     int64     // 0: none
	length int64     // bytes of the group
	pieces []byte    // since the last chunk
	opened time.Time // time of the first of the pieces; zero: there are none
	until  time.Time // end of the last of them
}

// write stores the encoded inputs of a Batch.
func (w *Writer) write(t *Tx, b *history.Batch) openGroup {
	g := w.group
	from, to := b.Span.From.UnixNano(), b.Span.To.UnixNano()
	if b.Keyframe != nil {
		t.pack(&g)
		g.length = 0
		if b.Follows {
			t.exec("update gop set thin = ? where id = ? and thin > 0", Unsigned(b.Seq[0]+1), g.id)
		}
		thin := 0
		if b.Thin {
			thin = 1
		}
		g.id = t.insert("insert into gop(run, seq, start, until, thin, body) values(?,?,?,?,?,?)", w.run.ID, Unsigned(b.Seq[0]), from, to, thin, t.packed(b.Keyframe))
	}
	if b.Count > 0 {
		t.exec("insert into tail(gop, first, start, until, body) values(?,?,?,?,?)", g.id, g.length, from, to, b.Inputs)
		g.add(b.Inputs, b.Span.From, b.Span.To)
		t.exec("update gop set until = ? where id = ?", to, g.id)
	}
	if len(g.pieces) >= chunkBytes || !g.opened.IsZero() && b.Span.To.Sub(g.opened) >= chunkAge {
		t.pack(&g)
	}
	return g
}

// add appends a piece that begins at the length of the group.
func (g *openGroup) add(piece []byte, from, to time.Time) {
	g.length += int64(len(piece))
	g.pieces = append(g.pieces[:len(g.pieces):len(g.pieces)], piece...)
	if g.until = sources.Later(g.until, to); g.opened.IsZero() {
		g.opened = from
	}
}

// pack replaces the tails of the group with one compressed chunk.
func (t *Tx) pack(g *openGroup) {
	if len(g.pieces) > 0 {
		t.exec("insert into chunk(gop, first, size, start, until, body) values(?,?,?,?,?,?)",
			g.id, g.length-int64(len(g.pieces)), len(g.pieces), g.opened.UnixNano(), g.until.UnixNano(), t.packed(g.pieces))
		t.exec("delete from tail where gop = ?", g.id)
	}
	g.pieces, g.opened, g.until = nil, time.Time{}, time.Time{}
}

// gather packs the tails that a killed process left into chunks.
func (w *Writer) gather() error {
	return w.Tx(func(t *Tx) error {
		left := map[int64]*openGroup{}
		var id, first, start, until int64
		var body []byte
		t.each("select gop, first, start, until, body from tail order by id", nil, []any{&id, &first, &start, &until, &body}, func() {
			g := left[id]
			if g == nil {
				g = &openGroup{id: id}
				left[id] = g
			}
			g.length = first
			g.add(body, time.Unix(0, start), time.Unix(0, until))
		})
		for _, g := range left {
			t.pack(g)
		}
		return t.Err
	})
}

// newPacker makes an encoder for EncodeAll. It takes 2 MB and starts no goroutine.
func newPacker() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10))
	if err != nil {
		panic("tables: the options of zstd: " + err.Error())
	}
	return e
}

// packed returns b compressed. A busy Writer reuses one packer; the garbage collector frees that of an idle one.
func (t *Tx) packed(b []byte) []byte {
	e := t.w.packers.Get()
	defer t.w.packers.Put(e)
	return e.(*zstd.Encoder).EncodeAll(b, nil)
}

// largest bounds the bytes of a decompressed body, which may be damaged.
const largest = 128 << 20

// unpacked decompresses b; nil after an error. All its calls share a decoder.
func (s *Statements) unpacked(b []byte) (raw []byte) { return s.unpackedInto(nil, b) }

// unpackedInto appends b, decompressed, to dst; see unpacked.
func (s *Statements) unpackedInto(dst, b []byte) (raw []byte) {
	if s.Err != nil {
		return nil
	}
	if s.decoder == nil {
		var err error
		if s.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest)); err != nil {
			panic("tables: the options of zstd: " + err.Error())
		}
	}
	if raw, s.Err = s.decoder.DecodeAll(b, dst); s.Err != nil {
		s.Err = Damage("a compressed part")
	}
	return raw
}
