package headless

import (
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

func TestTheLibraryOfALockStandsInAColumnOfItsOwn(t *testing.T) {
	t.Parallel()
	row := func(name string, labels ...sources.Attr) *sources.Row {
		return &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: name}, Labels: labels}}
	}
	plain, kept := row("plain"), row("kept", sources.FormatLabel("Redisson\x1b", sources.Inferred))
	table := func(list ...*sources.Row) []string {
		var b strings.Builder
		if err := align(&b, textTable(&sources.State{}, list, time.Now())); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(b.String()), "\n")
	}
	lines := table(plain, kept)
	if !strings.HasSuffix(lines[0], "WAITERS  LIBRARY") || !strings.HasSuffix(lines[1], "  -") || !strings.HasSuffix(lines[2], `  likely Redisson\x1b`) || !strings.Contains(lines[2], "  kept  ") {
		t.Errorf("%q", lines)
	}
	guessed := row("guessed")
	guessed.Kind, guessed.LimitHow = sources.KindElection, sources.Inferred
	if lines := table(guessed); !strings.Contains(lines[1], "  likely election  ") || !primitiveOf(&verdict.Judge{State: &sources.State{}}, guessed, time.Now(), nil).Guess {
		t.Errorf("a guess is not marked: %q", lines)
	}
	if lines := table(plain); strings.Contains(lines[0], "LIBRARY") {
		t.Errorf("%q", lines)
	}
}
