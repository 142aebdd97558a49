package foreground

import (
	"bufio"
	"context"
	"io"

	"coordtop/internal/spawn"
)

// longest is how many bytes a line may have; a longer one ends the lines.
const longest = 1 << 20

// Lines reads in until it ends, which closes the channel; nothing is sent after ctx has ended.
// The goroutine ends with the process: a read of standard input cannot be interrupted.
func Lines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	spawn.Go(ctx, nil, func() {
		defer close(lines)
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
