package localserver

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// PeakMemory returns how many bytes of memory a running process had at most since its program
// began, for tests. It does not count what the process was forked from, as getrusage does. The test is
// skipped where the system does not tell.
func PeakMemory(t TB, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("this system does not tell what memory a process had: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				t.Fatalf("reading the peak of memory: %v", err)
			}
			return kilobytes << 10
		}
	}
	t.Fatalf("the kernel does not tell what memory the process had: has it ended?")
	return 0
}
