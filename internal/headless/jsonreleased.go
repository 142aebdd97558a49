package headless

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"coordtop/sources"
)

// Released is the result of a release.
type Released struct {
	Result   string // done, not seen, missed, failed, called off, not known
	Ref      sources.Ref
	Kind     sources.Kind
	Previous sources.OwnerRef // whose ownership was to end
	Owners   []sources.Owner  // afterwards
	Alias    string           // of the primitive, where a person may name it so
	Detail   string
}

type releasedJSON struct {
	V      int     `json:"v"`
	At     *string `json:"at"`
	Event  string  `json:"event"`
	Result string  `json:"result"`
	refJSON
	Alias    *aliasJSON     `json:"alias"`
	Previous *ownerRefJSON  `json:"previous"`
	Owners   []ownerRefJSON `json:"owners"`
	Detail   *string        `json:"detail"`
}

// WriteReleased writes one line of JSON, with one Write.
func WriteReleased(out io.Writer, r Released) error {
	return writeLine(out, releasedJSON{
		V: version, At: instant(time.Now()), Event: "release", Result: r.Result, refJSON: refOf(r.Ref, r.Kind),
		Alias: aliasOf(r.Alias, sources.Told), Previous: ownerRefOf(r.Previous), Detail: orNull(r.Detail),
		Owners: each(r.Owners, func(o *sources.Owner) ownerRefJSON {
			return refOfOwner(sources.OwnerRef{ID: o.ID, Label: o.Label, Fence: o.Fence})
		}),
	})
}

// writeLine writes an object as one line, with one Write.
func writeLine(out io.Writer, v any) error {
	var buf bytes.Buffer
	if err := encode(&buf, v); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return writeText(out, buf.String())
}

// writeText writes a text with one Write.
func writeText(out io.Writer, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}
