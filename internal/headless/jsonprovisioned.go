package headless

import (
	"fmt"
	"io"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Provisioned is the result of an action on a primitive itself.
type Provisioned struct {
	Action string // create, update, delete
	Result string // as of Released
	Ref    sources.Ref
	Kind   sources.Kind
	Row    *sources.Row // afterwards; nil: our watch does not have it
	Detail string
}

type provisionedJSON struct {
	V      int     `json:"v"`
	At     *string `json:"at"`
	Event  string  `json:"event"`
	Result string  `json:"result"`
	refJSON
	Limit  *int64    `json:"limit"`
	Data   *blobJSON `json:"data"`
	Detail *string   `json:"detail"`
}

// WriteProvisioned writes one line of JSON, with one Write.
func WriteProvisioned(out io.Writer, p Provisioned) error {
	line := provisionedJSON{
		V: version, At: instant(time.Now()), Event: p.Action, Result: p.Result, refJSON: refOf(p.Ref, p.Kind), Detail: orNull(p.Detail),
	}
	if p.Row != nil && !p.Row.Absent {
		line.Limit, line.Data = nullable(p.Row.LimitHow != sources.Unknown, sources.Permits(p.Row.Limit)), blob(p.Row.Data)
	}
	return writeLine(out, line)
}

// describedJSON is a primitive as get prints it, with all of its data.
type describedJSON struct {
	V  int     `json:"v"`
	At *string `json:"at"`
	primitiveJSON
	Data *blobJSON `json:"data"`
	SHA  *string   `json:"data_sha256"`
}

// WriteDescribed writes a row, as our watch shows it in s, with the data that was just read. hash is that of the data.
func WriteDescribed(out io.Writer, s *sources.State, r *sources.Row, d coord.Description, hash string, f Format) error {
	now, data := time.Now(), sources.WholeBlob(d.Data)
	known := !data.Masked() // else the hash would help to guess the secret
	if f == JSON {
		return writeLine(out, describedJSON{
			V: version, At: instant(now), primitiveJSON: primitiveOf(judge(s), r, now, nil), Data: blob(data), SHA: nullable(known, hash),
		})
	}
	if err := align(out, textTable(s, []*sources.Row{r}, now)); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	var b strings.Builder
	for i := range r.Owners {
		o := &r.Owners[i]
		fmt.Fprintf(&b, "owner   %s  permits %d  guard %s%s\n", format.Label(o.Label, maxText), sources.Permits(max(o.Permits, 1)), format.Clean(o.Guard, maxText), textData("data", o.Data))
	}
	for i := range r.Queue.Waiters {
		w := &r.Queue.Waiters[i]
		fmt.Fprintf(&b, "waiter  %s  permits %d%s\n", format.Label(w.Label, maxText), sources.Permits(max(w.Permits, 1)), textData("data", w.Data))
	}
	if !known {
		hash = "not told, since a part of the data is secret"
	}
	fmt.Fprintf(&b, "sha256  %s\n", hash)
	if data.Len > 0 {
		fmt.Fprintf(&b, "data    %q\n", data.Head)
	}
	return writeText(out, b.String())
}
