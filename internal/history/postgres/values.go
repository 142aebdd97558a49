package postgres

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/history/tables"
)

// Formats of the protocol, and types of columns (pg_type.dat).
const (
	textFormat   = 0
	binaryFormat = 1

	boolType  = 16
	byteaType = 17
	int8Type  = 20
	int2Type  = 21
	int4Type  = 23
)

// encoded returns an argument as it is sent. nil is NULL.
func encoded(arg any) (value []byte, format int16, err error) {
	if v, ok := arg.(driver.Valuer); ok {
		if arg, err = v.Value(); err != nil {
			return nil, 0, err
		}
	}
	switch v := arg.(type) {
	case nil:
		return nil, textFormat, nil
	case []byte:
		if v == nil {
			v = []byte{}
		}
		return v, binaryFormat, nil
	case string:
		return []byte(storable(v)), textFormat, nil
	case bool:
		return strconv.AppendBool(nil, v), textFormat, nil
	}
	v := reflect.ValueOf(arg)
	switch {
	case v.CanInt():
		return strconv.AppendInt(nil, v.Int(), 10), textFormat, nil
	case v.CanUint():
		return strconv.AppendInt(nil, int64(v.Uint()), 10), textFormat, nil
	case v.Kind() == reflect.Slice:
		return array(v), textFormat, nil
	}
	return nil, 0, fmt.Errorf("a value of the type %T cannot be stored", arg)
}

// quoted escapes an element of an array.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// array encodes a slice of numbers, texts, bytes or times; a zero time is NULL.
func array(list reflect.Value) []byte {
	b := []byte{'{'}
	for i := range list.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		switch v := list.Index(i).Interface().(type) {
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case []byte:
			b = fmt.Appendf(b, `"\\x%x"`, v)
		case time.Time:
			if v.IsZero() {
				b = append(b, "NULL"...)
			} else {
				b = v.UTC().AppendFormat(b, `"2006-01-02T15:04:05.999999Z"`)
			}
		default:
			b = append(b, '"')
			b = append(b, quoted.Replace(storable(fmt.Sprint(v)))...)
			b = append(b, '"')
		}
	}
	return append(b, '}')
}

// scan stores the columns of the current row.
func scan(rows *pgconn.ResultReader, into []any) error {
	values, columns := rows.Values(), rows.FieldDescriptions()
	if len(values) != len(into) {
		return tables.Damage("a row")
	}
	for i, raw := range values {
		v, err := decoded(columns[i].DataTypeOID, raw)
		if err == nil {
			err = assign(into[i], v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decoded returns a value in the binary format: an int64, a bool, a []byte, or a string for any other type.
func decoded(kind uint32, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	size := map[uint32]int{boolType: 1, int2Type: 2, int4Type: 4, int8Type: 8}[kind]
	if size > 0 && len(raw) != size {
		return nil, tables.Damage("a number")
	}
	switch kind {
	case boolType:
		return raw[0] != 0, nil
	case int2Type:
		return int64(int16(binary.BigEndian.Uint16(raw))), nil
	case int4Type:
		return int64(int32(binary.BigEndian.Uint32(raw))), nil
	case int8Type:
		return int64(binary.BigEndian.Uint64(raw)), nil
	case byteaType:
		return append([]byte{}, raw...), nil
	}
	if len(raw) > longestText {
		return nil, tables.Damage("a text")
	}
	return plain(string(raw)), nil
}

// assign stores a decoded value.
func assign(into, v any) error {
	if scanner, ok := into.(sql.Scanner); ok {
		return scanner.Scan(v)
	}
	to := reflect.ValueOf(into).Elem()
	switch from := v.(type) {
	case int64:
		switch {
		case to.CanInt() && !to.OverflowInt(from):
			to.SetInt(from)
			return nil
		case to.CanUint() && from >= 0 && !to.OverflowUint(uint64(from)):
			to.SetUint(uint64(from))
			return nil
		}
	case bool, string, []byte:
		if from := reflect.ValueOf(v); from.Type() == to.Type() {
			to.Set(from)
			return nil
		}
	}
	return tables.Damage("a column")
}

// storable returns a text as the database can have it: a zero byte, and bytes that are not UTF-8, become \x and two
// hexadecimal digits, and a backslash becomes two.
func storable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\\") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == 0 || r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// plain is the reverse of storable. A text that storable did not write stays, as far as it can.
func plain(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		if strings.HasPrefix(text, `\\`) {
			b.WriteByte('\\')
			text = text[2:]
			continue
		}
		if n, err := strconv.ParseUint(text[min(2, len(text)):min(4, len(text))], 16, 8); err == nil && strings.HasPrefix(text, `\x`) {
			b.WriteByte(byte(n))
			text = text[4:]
			continue
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}
