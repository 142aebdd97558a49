package app

import (
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"coordtop/internal/ground/schematest"
	"coordtop/internal/headless"
)

// fitsSchema checks every line of JSON that get, wait, watch and drill print in a test, once that is over. It
// returns what takes their output besides out.
func fitsSchema(t testing.TB) func(out io.Writer, args []string) io.Writer {
	parts := map[string]headless.Part{"get": headless.OfGet, "wait": headless.OfGet, "watch": headless.OfWatch, "drill": headless.OfDrill}
	var mu sync.Mutex
	printed := map[headless.Part]*stream{}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for part, lines := range printed {
			s := schematest.Compile(t, headless.Schema(part))
			for line := range strings.Lines(lines.String()) {
				if err := s.CheckText([]byte(line)); err != nil {
					t.Errorf("%s%s: %v", part, line, err)
				}
			}
		}
	})
	return func(out io.Writer, args []string) io.Writer {
		_, kept := out.(*stream)
		if !kept || len(args) == 0 || parts[args[0]] == "" || !slices.Contains(args, "json") {
			return out
		}
		mu.Lock()
		defer mu.Unlock()
		part := parts[args[0]]
		if printed[part] == nil {
			printed[part] = newStream()
		}
		return io.MultiWriter(out, printed[part])
	}
}

func TestSchemasArePrintedWithoutAServer(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"get", "--schema"}, {"watch", "--schema", "-o", "json", "nowhere"}, {"drill", "--schema"}, {"config", "schema"}} {
		w := newWorld(t)
		w.fits = func(out io.Writer, _ []string) io.Writer { return out } // it is no line of JSON
		if code := w.main(t.Context(), args...); code != exitOK || w.stderr.String() != "" {
			t.Errorf("%q: exit code %d, %s", args, code, w.stderr)
		}
		schematest.Compile(t, w.stdout.String())
		if want := `"$id": "coordtop:` + args[0] + `"`; !strings.Contains(w.stdout.String(), want) {
			t.Errorf("%q does not print %s", args, want)
		}
	}
}
