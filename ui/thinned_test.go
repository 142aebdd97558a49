package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/ui/uitest"
)

// TestTheBannerSaysThatRenewalsAreNotRecorded looks at every screen at the same instant of an hour, whole and as version 5
// of the file kept it after the renewals were left out.
func TestTheBannerSaysThatRenewalsAreNotRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "history.db")
		historytest.Recorded(t, &recordtest.Recorder{Path: path}, nil, nil)
		old, err := os.ReadFile("testdata/thinned.coordtop")
		if err == nil {
			err = os.WriteFile(path+".old", old, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, thin := range []bool{false, true} {
			if thin {
				path += ".old"
			}
			s := sqlite.NewReader(path)
			p := history.NewPlayer(t.Context(), s, s)
			for _, width := range []int{80, 160} {
				m := board(Options{Player: p, Width: width, Height: 40})
				p.Seek(at(9 * time.Minute))
				synctest.Wait()
				second(m)
				for _, k := range []string{"2", "enter", "3", "5", "6", "o"} {
					m.Update(uitest.Key(k))
					second(m)
					lines := strings.Split(ansi.Strip(m.View().Content), "\n")
					frame := strings.Join(lines[1:], "\n")
					if strings.Contains(lines[0], " renewals not recorded here") != thin {
						t.Errorf("thin: %t, after %s: %q", thin, k, lines[0])
					}
					lease := map[bool]string{false: `billing/cron.* 1[0-5]s`, true: `billing/cron.* [?] .* [?]`}[thin]
					if k == "2" && !regexp.MustCompile(lease).MatchString(frame) || k == "enter" && strings.Contains(frame, "renewals not recorded here") != thin ||
						thin && regexp.MustCompile("LEASE LEFT|renewed .* ago|usually|never below|late").MatchString(frame) {
						t.Errorf("thin: %t, after %s:\n%s", thin, k, frame)
					}
				}
			}
			p.Close()
			s.Close()
		}
	})
}
