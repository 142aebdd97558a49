package headless

import (
	"io"
	"time"

	"coordtop/sources"
)

// Held is one line of acquire or campaign.
type Held struct {
	Event   string // acquired, proclaimed, resigned, lost, refused
	Ref     sources.Ref
	Kind    sources.Kind
	Owner   sources.OwnerRef // we; zero: none
	Mode    sources.Mode
	Permits uint64
	Data    []byte
	Until   time.Time // end of trust; zero: none
	Detail  string
}

type heldJSON struct {
	V         int           `json:"v"`
	At        *string       `json:"at"`
	Event     string        `json:"event"`
	Source    *string       `json:"source"`
	Namespace *string       `json:"namespace"`
	Kind      *string       `json:"kind"`
	Name      *string       `json:"name"`
	NameB64   string        `json:"name_b64,omitempty"`
	Owner     *ownerRefJSON `json:"owner"`
	Mode      string        `json:"mode"`
	Permits   uint64        `json:"permits"`
	Data      *blobJSON     `json:"data"`
	Until     *string       `json:"trusted_until"`
	Detail    *string       `json:"detail"`
}

// WriteHeld writes one line of JSON, with one Write.
func WriteHeld(out io.Writer, h Held) error {
	line := heldJSON{
		V: version, At: instant(time.Now()), Event: h.Event, Source: orNull(h.Ref.Source), Namespace: orNull(h.Ref.Space),
		Kind: kind(h.Kind), Name: orNull(h.Ref.Name), NameB64: exact(h.Ref.Name), Owner: ownerRefOf(h.Owner),
		Mode: h.Mode.String(), Permits: max(h.Permits, 1),
		Data:  blob(sources.NewBlob(h.Data, len(h.Data))),
		Until: instant(h.Until), Detail: orNull(h.Detail),
	}
	return writeLine(out, line)
}
