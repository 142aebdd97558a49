package pgwire_test

import (
	"errors"
	"testing"

	"coordtop/internal/ground/pgwire"
)

func TestOldServersAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"15.18 (Debian 15.18-1)": 15, "12.0": 12, "17beta2": 17, "18.4": 18} {
		if got, err := pgwire.MajorVersion(text); got != want || err != nil {
			t.Errorf("%q is version %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"11.22", "9.6.24", "", "CockroachDB"} {
		if _, err := pgwire.MajorVersion(text); !errors.As(err, new(*pgwire.VersionError)) {
			t.Errorf("%q: %v, want a VersionError", text, err)
		}
	}
}
