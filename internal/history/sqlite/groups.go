package sqlite

import (
	"time"

	"github.com/klauspost/compress/zstd"

	"coordtop/internal/history"
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
}

// write stores the encoded inputs of a Batch.
func (w *Writer) write(t *tx, b *history.Batch) openGroup {
	g := w.group
	from, to := b.Span.From.UnixNano(), b.Span.To.UnixNano()
	if b.Keyframe != nil {
		t.pack(&g)
		g.length = 0
		if b.Follows {
			t.exec("update gop set thin = ? where id = ? and thin > 0", unsigned(b.Seq[0]+1), g.id)
		}
		g.id = t.insert("insert into gop(run, seq, start, until, thin, body) values(?,?,?,?,?,?)", w.run.ID, unsigned(b.Seq[0]), from, to, b.Thin, t.packed(b.Keyframe))
	}
	if b.Count > 0 {
		t.insert("insert into tail(gop, first, start, until, body) values(?,?,?,?,?)", g.id, g.length, from, to, b.Inputs)
		g.length += int64(len(b.Inputs))
		g.pieces = append(g.pieces[:len(g.pieces):len(g.pieces)], b.Inputs...)
		if g.opened.IsZero() {
			g.opened = b.Span.From
		}
		t.exec("update gop set until = ? where id = ?", to, g.id)
	}
	if len(g.pieces) >= chunkBytes || !g.opened.IsZero() && b.Span.To.Sub(g.opened) >= chunkAge {
		t.pack(&g)
	}
	return g
}

// pack replaces the tails of the group with one compressed chunk.
func (t *tx) pack(g *openGroup) {
	if len(g.pieces) > 0 {
		t.exec("insert into chunk(gop, first, size, start, until, body) select gop, min(first), ?, min(start), max(until), ? from tail where gop = ? group by gop",
			len(g.pieces), t.packed(g.pieces), g.id)
		t.exec("delete from tail where gop = ?", g.id)
	}
	g.pieces, g.opened = nil, time.Time{}
}

// gather packs the tails that a killed process left into chunks.
func (w *Writer) gather() error {
	return w.tx(func(t *tx) error {
		left := map[int64][]byte{}
		var id int64
		var body []byte
		t.each("select gop, body from tail order by id", nil, []any{&id, &body}, func() { left[id] = append(left[id], body...) })
		for id, pieces := range left {
			t.pack(&openGroup{id: id, pieces: pieces})
		}
		return t.err
	})
}

// newPacker makes an encoder for EncodeAll. It takes 2 MB and starts no goroutine.
func newPacker() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10))
	if err != nil {
		panic("sqlite: the options of zstd: " + err.Error())
	}
	return e
}

// packed returns b compressed. A busy Writer reuses one packer; the garbage collector frees that of an idle one.
func (t *tx) packed(b []byte) []byte {
	e := t.w.packers.Get()
	defer t.w.packers.Put(e)
	return e.(*zstd.Encoder).EncodeAll(b, nil)
}

// largest bounds the bytes of a decompressed body, which may be damaged.
const largest = 256 << 20

// unpacked decompresses b; nil after an error. All its calls share a decoder.
func (s *statements) unpacked(b []byte) (raw []byte) {
	if s.err != nil {
		return nil
	}
	if s.decoder == nil {
		var err error
		if s.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest)); err != nil {
			panic("sqlite: the options of zstd: " + err.Error())
		}
	}
	if raw, s.err = s.decoder.DecodeAll(b, nil); s.err != nil {
		s.err = damage("a compressed part")
	}
	return raw
}
