package headless

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"coordtop/sources"
)

// Export writes rows of s, in their order, with one Write: as text the table of Get, as
// JSON a line for each row, with the object that Get prints in "primitives". It may be
// called from any goroutine: neither s nor the rows change.
func Export(w io.Writer, f Format, s *sources.State, rows []*sources.Row, now time.Time) error {
	var buf bytes.Buffer
	if f == JSON {
		for _, r := range rows {
			if err := encode(&buf, primitiveOf(s, r, now)); err != nil {
				return fmt.Errorf("encoding %s: %w", text(r.Name), err)
			}
		}
	} else if err := textGet(&buf, io.Discard, s, rows, false, now); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}
