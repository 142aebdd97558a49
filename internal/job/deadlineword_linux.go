package job

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deadlineWord is the kill instant in memory that we share with the watchdog. A pipe would fill while the watchdog is
// stopped, and an instant in it would be read late; this one is read when it is needed.
type deadlineWord struct {
	file  *os.File
	page  []byte
	nanos *atomic.Int64 // of the boot-time clock
}

// newDeadlineWord makes the memory. The caller must close it.
func newDeadlineWord() (*deadlineWord, error) {
	fd, err := unix.MemfdCreate("coordtop-deadline", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making memory to share: %w", err)
	}
	file := os.NewFile(uintptr(fd), "deadline")
	if err := file.Truncate(int64(os.Getpagesize())); err != nil {
		file.Close()
		return nil, fmt.Errorf("making memory to share: %w", err)
	}
	return mapDeadlineWord(file)
}

// mapDeadlineWord maps the memory of a file, which it closes if that fails.
func mapDeadlineWord(file *os.File) (*deadlineWord, error) {
	page, err := unix.Mmap(int(file.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("mapping shared memory: %w", err)
	}
	return &deadlineWord{file: file, page: page, nanos: (*atomic.Int64)(unsafe.Pointer(&page[0]))}, nil
}

func (w *deadlineWord) set(t time.Duration) { w.nanos.Store(int64(t)) }

func (w *deadlineWord) get() time.Duration { return time.Duration(w.nanos.Load()) }

func (w *deadlineWord) close() {
	_ = unix.Munmap(w.page)
	w.file.Close()
}
