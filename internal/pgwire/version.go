package pgwire

import (
	"fmt"
	"strconv"
	"strings"

	"coordtop/internal/format"
)

// Oldest is the lowest major version of Postgres that will do.
const Oldest = 12

// VersionError reports a server that is too old, or that is no Postgres.
type VersionError struct{ Version string }

// Error is a sentence.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the server is version \"%s\": Postgres %d or newer is needed", format.Clean(e.Version, 60), Oldest)
}

// MajorVersion reads "15.18 (Debian 15.18-1)", "17beta2" and "9.6.24". Its error is a
// *VersionError.
func MajorVersion(text string) (int, error) {
	digits := text
	if i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = text[:i]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < Oldest {
		return 0, &VersionError{text}
	}
	return n, nil
}
