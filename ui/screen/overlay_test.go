package screen

import (
	"testing"

	"coordtop/internal/ground/format"
)

func TestADialogCoversWideCharactersWithoutMovingTheRest(t *testing.T) {
	t.Parallel()
	for x := range 6 {
		if got := over("日本語の鍵です", "[]", x, 2, 14); len([]rune(got)) == 0 || format.Width(got) != 14 {
			t.Errorf("at %d: %q", x, got)
		}
	}
}
