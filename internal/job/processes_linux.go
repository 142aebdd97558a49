package job

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is what the kernel tells about one.
type process struct {
	pid, parent, group int
	alive              bool // false: it has ended and its parent has not waited for it
}

// readProcess reads /proc/PID/stat, see proc(5). ok is false if there is no such process.
func readProcess(pid int) (p process, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	_, after, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ") // the name before may have any byte
	var state byte
	n, _ := fmt.Sscanf(after, "%c %d %d", &state, &p.parent, &p.group)
	p.pid, p.alive = pid, state != 'Z' && state != 'X'
	return p, n == 3
}

// processes returns all processes that we see.
func processes() (all []process) {
	names, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// children returns our child processes. One that begins or ends meanwhile may be missing.
func children() (all []process) {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is good
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, pid := range strings.Fields(string(text)) {
			n, err := strconv.Atoi(pid)
			if err != nil {
				continue
			}
			if p, ok := readProcess(n); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// links returns duplicates of our connections. The caller must close them. Nothing reads from them.
func links() (all []*os.File) {
	names, _ := filepath.Glob("/proc/self/fd/*") // the pattern is good
	for _, name := range names {
		fd, err := strconv.Atoi(filepath.Base(name))
		if err != nil || fd <= syscall.Stderr {
			continue
		}
		if _, err := unix.Getpeername(fd); err != nil {
			continue // no socket, or not connected
		}
		if twin, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			all = append(all, os.NewFile(uintptr(twin), "link"))
		}
	}
	return all
}

// markedBy reports whether a process was started with a variable. The kernel tells it to those who may trace the
// process, and not while it ends.
func markedBy(pid int, variable string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00"))
}
