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

// text is a string of other people's bytes.
func text(s string) string {
	clean, _ := format.UTF8([]byte(s))
	return clean
}

// exact is the base64 of a string that text cannot stand for, else "".
func exact(s string) string {
	if utf8.ValidString(s) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(s))
}

// orNull is text, or null for nothing.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return new(text(s))
}

func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

// stamp returns the instant and the lower bound of a Stamp; both null if unknown.
func stamp(s sources.Stamp) (at, after *string) {
	if s.How == sources.Unknown {
		return nil, nil
	}
	return instant(s.At), instant(s.After())
}

// number writes a fence or an order; 0 is none.
func number(n uint64) *string {
	if n == 0 {
		return nil
	}
	return new(strconv.FormatUint(n, 10))
}

func millis(d time.Duration) *int64 { return new(d.Milliseconds()) }

// millisOrNull is null where 0 means unknown or none.
func millisOrNull(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	return millis(d)
}

func kind(k sources.Kind) *string {
	if k == sources.KindUnknown {
		return nil
	}
	return new(k.String())
}

type aliasJSON struct {
	Text  string `json:"text"`
	Known string `json:"known" is:"known"`
}

func aliasOf(s string, how sources.Known) *aliasJSON {
	if s == "" {
		return nil
	}
	return &aliasJSON{Text: text(s), Known: how.String()}
}

type blobJSON struct {
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
	Len    int     `json:"len"`
	Cut    bool    `json:"cut"`
}

// blob encodes a value; a value without a byte is told from none by nobody, so both
// are null. One whose bytes were all held back has neither text nor base64.
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

// wholeRunes takes off the beginning of a character that a cut left at the end.
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
