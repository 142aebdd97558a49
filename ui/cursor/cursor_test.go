package cursor_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"coordtop/ui/cursor"
)

func filled(height int, keys ...string) *cursor.List[string] {
	t := &cursor.List[string]{}
	t.SetHeight(height)
	t.SetKeys(keys)
	return t
}

func selected(t *testing.T, tb *cursor.List[string], want string) {
	t.Helper()
	if got, _ := tb.Selected(); got != want {
		t.Errorf("the cursor is on %q, not %q", got, want)
	}
}

func TestCursorStaysOnTheTopRowUntilItIsMoved(t *testing.T) {
	t.Parallel()
	tb := filled(3, "a", "b", "c")
	tb.SetKeys([]string{"c", "a", "b"})
	selected(t, tb, "c")
	if tb.Moved() {
		t.Error("nobody moved it")
	}
}

func TestCursorFollowsItsKeyWhenTheOrderChanges(t *testing.T) {
	t.Parallel()
	tb := filled(3, "a", "b", "c", "d")
	tb.Move(1)
	tb.SetKeys([]string{"d", "c", "a", "b"})
	selected(t, tb, "b")
	if tb.Pos() != 3 || !slices.Contains(tb.Visible(), "b") {
		t.Errorf("at %d, visible %v", tb.Pos(), tb.Visible())
	}
}

func TestCursorComesBackWhenItsKeyDoes(t *testing.T) {
	t.Parallel()
	tb := filled(3, "a", "b", "c")
	tb.Move(1)
	tb.SetKeys([]string{"a", "c"})
	selected(t, tb, "c") // the row that took its place
	tb.SetKeys([]string{"b", "a", "c"})
	selected(t, tb, "b")
}

func TestMovingOffALostKeyForgetsIt(t *testing.T) {
	t.Parallel()
	tb := filled(3, "a", "b", "c")
	tb.Move(1)
	tb.SetKeys([]string{"a", "c"})
	tb.Move(-1)
	tb.SetKeys([]string{"b", "a", "c"})
	selected(t, tb, "a")
}

func TestReplaceTakesTheCursorToTheNewKey(t *testing.T) {
	t.Parallel()
	tb := filled(3, "a", "b", "c")
	tb.Move(1)
	tb.Replace("b", "b2")
	tb.Replace("a", "a2") // not under the cursor
	tb.SetKeys([]string{"b2", "a2", "c"})
	selected(t, tb, "b2")
}

func TestMovesEndAtTheEnds(t *testing.T) {
	t.Parallel()
	keys := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	for _, c := range []struct {
		name string
		do   func(*cursor.List[string])
		want string
	}{
		{"down beyond the end", func(tb *cursor.List[string]) { tb.Move(99) }, "9"},
		{"up beyond the top", func(tb *cursor.List[string]) { tb.Move(-1) }, "0"},
		{"there and back", func(tb *cursor.List[string]) { tb.Move(99); tb.Move(-3) }, "6"},
		{"to a key", func(tb *cursor.List[string]) { tb.Select("7") }, "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tb := filled(4, keys...)
			c.do(tb)
			selected(t, tb, c.want)
		})
	}
}

func TestSelectWaitsForAKeyThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	tb := filled(3, "a", "b")
	if tb.Select("z") {
		t.Error("z is not in the list")
	}
	tb.SetKeys([]string{"a", "b", "z"})
	selected(t, tb, "z")
}

func TestAnEmptyListHasNoCursor(t *testing.T) {
	t.Parallel()
	tb := filled(3)
	tb.Move(1)
	tb.Move(99)
	if _, ok := tb.Selected(); ok || len(tb.Visible()) != 0 || tb.Pos() != 0 {
		t.Error("there is a cursor")
	}
}

func TestCursorIsAlwaysVisibleAndTheWindowIsFull(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tb cursor.List[int]
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				tb.SetKeys(rapid.SliceOfNDistinct(rapid.IntRange(0, 50), 0, 30, rapid.ID).Draw(t, "keys"))
			case 1:
				tb.SetHeight(rapid.IntRange(-1, 20).Draw(t, "height"))
			case 2:
				tb.Move(rapid.IntRange(-9, 9).Draw(t, "move"))
			case 3:
				tb.Select(rapid.IntRange(0, 50).Draw(t, "select"))
			}
			k, ok := tb.Selected()
			if visible := tb.Visible(); ok && tb.Height() > 0 && !slices.Contains(visible, k) {
				t.Fatalf("cursor %d is not among %v", k, visible)
			} else if len(visible) != min(tb.Height(), tb.Len()) {
				t.Fatalf("%d rows in a window of %d, of %d", len(visible), tb.Height(), tb.Len())
			}
		}
	})
}
