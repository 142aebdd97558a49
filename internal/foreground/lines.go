package foreground

import (
	"bufio"
	"context"
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"coordtop/internal/ground/spawn"
)

// longest is how many bytes a line may have; a longer one ends the lines.
const longest = 1 << 20

// Lines reads in until it ends; nothing is sent after ctx has ended. The end closes the channel
// where it means something, see Ends. The goroutine ends with the process: a read of standard
// input cannot be interrupted.
func Lines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	spawn.Go(ctx, nil, func() {
		if Ends(in) {
			defer close(lines)
		}
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, longest)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	})
	return lines
}

// Ends reports whether the end of in is a sign: when a pipe, a socket or a terminal ends, its
// other end is gone. A file, /dev/null and what cannot be read at all have
// no other end: they are what a program has that was started without anybody to talk to.
func Ends(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return true
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return false
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0:
		return true
	}
	return term.IsTerminal(file.Fd())
}
