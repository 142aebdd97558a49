package foreground

import (
	"strings"
	"testing"

	"coordtop/internal/action"
	"coordtop/sources"
)

func TestOurOwnSessionIsNotSaidToBeAnotherLeader(t *testing.T) {
	t.Parallel()
	row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "node", Name: "main"}, Kind: sources.KindElection,
		Owners: []sources.Owner{{ID: "11@7", Session: "11", Label: "root@vm:4"}}}}
	for own, want := range map[string]string{"": "led by root@vm:4", "12": "led by root@vm:4", "11": "the service shows us as the owner"} {
		if says := waitingText(row, action.Run{}, &action.Holding{Owner: own, Waiting: true}); !strings.Contains(says, want) {
			t.Errorf("session %q: %s, want %q", own, says, want)
		}
	}
}
