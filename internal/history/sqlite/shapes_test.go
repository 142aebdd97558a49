package sqlite

import (
	"strings"
	"testing"
)

func TestTheShapeOfEachVersionIsWhatItsSchemaMakes(t *testing.T) {
	t.Parallel()
	for n := range version {
		db, err := connect(":memory:", "", 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), strings.Join(schema[:n+1], "")); err != nil {
			t.Fatal(err)
		}
		made, err := objects(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if got := shapeOf(made); got != shapes[n] {
			t.Errorf("version %d has the shape %s, and shapes says %s", n+1, got, shapes[n])
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
