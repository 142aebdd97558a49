package pgwire_test

import (
	"strings"
	"testing"

	"coordtop/internal/ground/pgwire"
)

func TestAddressesThatCannotBeReadAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://user:hunter2@host:notaport/db", "postgres://user:hun%74er2@host:1/db?sslmode=hunter2", "postgres://user:x@host:1/db?connect_timeout=hunter2",
		"postgres://user:hunter2%zz@host/db", "host=h password=hunter2 port=x", "host=h password='hunter2", "user:hunter2@host", "hunter2", "postgres://hunter2:1:2/db",
		"postgres://me:hun/ter2@host/db", "host=h port=hunter2", "postgres://h:1/db?target_session_attrs=hunter2", "postgres://h:1/db?sslrootcert=/hunter2",
		"postgres://h:1/db?channel_binding=hunter2", "postgres://h:1/db?service=hunter2", "postgres://h:1/db?min_protocol_version=hunter2",
	} {
		_, _, err := pgwire.Parse(address)
		if err != nil && (strings.Contains(err.Error(), "unter2") || strings.Contains(err.Error(), "ter2")) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestParametersThatServersRefuseAreLeftOutWithANote(t *testing.T) {
	t.Parallel()
	const all = "postgres://h/db?schema=public&keepalives=1&keepalives_idle=1&keepalives_interval=1&keepalives_count=1&tcp_user_timeout=1" +
		"&gssencmode=disable&fallback_application_name=x&application_name=y&client_encoding=auto&work_mem=4MB"
	c, notes, err := pgwire.Parse(all)
	if err != nil || len(c.RuntimeParams) != 1 || c.RuntimeParams["work_mem"] != "4MB" {
		t.Fatalf("%v, %v", c.RuntimeParams, err)
	}
	text := strings.Join(notes, "\n")
	for _, name := range []string{"schema", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout", "gssencmode", "client_encoding"} {
		if !strings.Contains(text, "parameter "+name+"= is ignored") {
			t.Errorf("%s is not in %s", name, text)
		}
	}
	if len(notes) != 8 {
		t.Errorf("%d notes: %s", len(notes), text)
	}
}
