package headless

import (
	"io"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Held is one line of acquire or campaign.
type Held struct {
	Event   string // enqueued, acquired, proclaimed, notification, notified, resigning, resigned, lost, refused
	Ref     sources.Ref
	Kind    sources.Kind
	Owner   sources.OwnerRef // we; zero: none
	Mode    sources.Mode
	Permits uint64
	Data    []byte
	Until   time.Time // end of trust; zero: none
	Detail  string
	Alias   string // of the primitive, where a person may name it so
	Place   int    // in the queue, or a later one; 0: not known
	Notice  Notice
}

// Notice is a notification on a channel of the service.
type Notice struct {
	Channel, Payload string
	Missed           uint64 // number of notifications that were lost just before it, because we read too slowly
}

type payloadJSON struct {
	Channel string `json:"channel"`
	Payload string `json:"payload"`
	Missed  uint64 `json:"missed"`
}

// refJSON names a primitive.
type refJSON struct {
	Source    *string `json:"source"`
	Namespace *string `json:"namespace"`
	Kind      *string `json:"kind" is:"kind"`
	Name      *string `json:"name"`
	NameB64   string  `json:"name_b64,omitempty"`
}

func refOf(ref sources.Ref, k sources.Kind) refJSON {
	return refJSON{Source: orNull(ref.Source), Namespace: orNull(ref.Space), Kind: kind(k), Name: orNull(ref.Name), NameB64: exact(ref.Name)}
}

type heldJSON struct {
	V     int     `json:"v"`
	At    *string `json:"at"`
	Event string  `json:"event"`
	refJSON
	Alias   *aliasJSON    `json:"alias"`
	Owner   *ownerRefJSON `json:"owner"`
	Mode    string        `json:"mode"`
	Permits int64         `json:"permits"`
	Data    *blobJSON     `json:"data"`
	Until   *string       `json:"trusted_until"`
	Place   int           `json:"place,omitempty"`
	Notice  *payloadJSON  `json:"notification,omitempty"`
	Detail  *string       `json:"detail"`
}

// WriteHeld writes one line of JSON, with one Write.
func WriteHeld(out io.Writer, h Held) error {
	var notice *payloadJSON
	if n := h.Notice; n.Channel != "" {
		channel, _ := format.UTF8([]byte(n.Channel))
		payload, _ := format.UTF8([]byte(n.Payload))
		notice = &payloadJSON{channel, payload, n.Missed}
	}
	return writeLine(out, heldJSON{
		V: version, At: instant(time.Now()), Event: h.Event, refJSON: refOf(h.Ref, h.Kind), Alias: aliasOf(h.Alias, sources.Told), Owner: ownerRefOf(h.Owner),
		Mode: h.Mode.String(), Permits: sources.Permits(max(h.Permits, 1)),
		Data:  blob(sources.NewBlob(h.Data, len(h.Data))),
		Until: instant(h.Until), Place: h.Place, Notice: notice, Detail: orNull(h.Detail),
	})
}
