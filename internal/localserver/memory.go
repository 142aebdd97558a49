package localserver

import (
	"fmt"
	"os"
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
		var kilobytes int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	t.Fatalf("the kernel does not tell what memory the process had: has it ended?")
	return 0
}
