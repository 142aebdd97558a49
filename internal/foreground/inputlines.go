package foreground

import (
	"bufio"
	"context"
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"coordtop/internal/ground/spawn"
)

// longest is the most bytes of a line. A longer line ends the input.
const longest = 1 << 20

// Lines starts a goroutine that reads in to its end, and returns the channel of its lines. It sends nothing after ctx
// has ended. The end of in closes the channel only if Ends is true. The goroutine may last until the process ends,
// because a read of standard input cannot be interrupted.
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

// Ends reports whether the end of in means that its other end is gone, as for a pipe, a socket or a terminal. A file,
// /dev/null and an input that cannot be read have no other end, and mean that the program was started in the
// background.
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
