package headless

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// version is the "v" of every object. A change that breaks a reader raises it.
const version = 1

// encode appends v to buf as one line of JSON. Controls that JSON does not escape, and what reorders text
// or cannot be seen, are escaped too, since people do print JSON to terminals.
func encode(buf *bytes.Buffer, v any) error {
	line, err := format.JSON(v, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	})
	buf.Write(line)
	return err
}

// text returns a string of other people's bytes as valid UTF-8.
func text(s string) string {
	clean, _ := format.UTF8([]byte(s))
	return clean
}

// exact returns the base64 of a string that is not valid UTF-8; "" for any other.
func exact(s string) string {
	if utf8.ValidString(s) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(s))
}

// nullable returns a pointer to v where ok is true, else nil, which is null in JSON.
func nullable[T any](ok bool, v T) *T {
	if !ok {
		return nil
	}
	return &v
}

// each returns a list of what of makes of each item. It is never nil, so that JSON has [] and not null.
func each[T, J any](items []T, of func(*T) J) []J {
	list := make([]J, len(items))
	for i := range items {
		list[i] = of(&items[i])
	}
	return list
}

// orNull returns a text, and null for the empty one.
func orNull(s string) *string { return nullable(s != "", text(s)) }

// instant returns a time in UTC, and null for the zero one.
func instant(t time.Time) *string {
	return nullable(!t.IsZero(), t.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

// stamp returns the instant and the lower bound of a Stamp; both null if unknown.
func stamp(s sources.Stamp) (at, after *string) {
	if s.How == sources.Unknown {
		return nil, nil
	}
	return instant(s.At), instant(s.After())
}

// number writes a fence or an order; 0 is none.
func number(n uint64) *string { return nullable(n != 0, strconv.FormatUint(n, 10)) }

// millisOrNull returns null for 0, which means unknown or none.
func millisOrNull(d time.Duration) *int64 { return nullable(d != 0, d.Milliseconds()) }

func kind(k sources.Kind) *string { return nullable(k != sources.KindUnknown, k.String()) }

type aliasJSON struct {
	Text  string `json:"text"`
	Known string `json:"known" is:"known"`
}

func aliasOf(s string, how sources.Known) *aliasJSON {
	return nullable(s != "", aliasJSON{Text: text(s), Known: how.String()})
}

type blobJSON struct {
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
	Len    int     `json:"len"`
	Cut    bool    `json:"cut"`
}

// blob encodes a value. No backend tells an empty value from none, so both are null. A value whose
// bytes were all held back has neither text nor base64.
func blob(b sources.Blob) *blobJSON {
	if b.Len == 0 && len(b.Head) == 0 {
		return nil
	}
	out := &blobJSON{Len: b.Len, Cut: b.Len > len(b.Head)}
	head := b.Head
	if len(head) == 0 {
		return out
	}
	if out.Cut {
		head = wholeRunes(head)
	}
	if utf8.ValidString(head) {
		out.Text = &head
	} else {
		out.Base64 = new(base64.StdEncoding.EncodeToString([]byte(b.Head)))
	}
	return out
}

// wholeRunes removes an incomplete character at the end of a text that was cut.
func wholeRunes(b string) string {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}
