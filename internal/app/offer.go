package app

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/spawn"
)

// offer asks the person at the terminal which server of this machine to watch, where nothing names one.
// nothing is the error that says so: it is returned, and not said again, if none is chosen.
func (p *program) offer(ctx context.Context, nothing error) (config.Config, error) {
	urls := p.listening(ctx)
	if len(urls) == 0 {
		return config.Config{}, nothing
	}
	p.report(ctx, nothing)
	fmt.Fprintln(p.env.Stderr, "Or watch what listens on this machine. Nothing was sent to it yet, and watching only reads:")
	for i, url := range urls {
		fmt.Fprintf(p.env.Stderr, "  %d) %s\n", i+1, url)
	}
	for {
		answer := typed(ctx, p.env, "Type its number, or enter alone to end: ")
		if n, err := strconv.Atoi(answer); err == nil && n > 0 && n <= len(urls) {
			return backends.Config().FromURLs(urls[n-1 : n])
		}
		if answer == "" || answer == "q" {
			p.said = true
			return config.Config{}, nothing
		}
	}
}

// soon bounds a connect to this machine.
const soon = 200 * time.Millisecond

// listening are the URLs of what listens on the usual ports of this machine, if there is a person to be
// asked. It connects, sends nothing, and closes.
func (p *program) listening(ctx context.Context) (urls []string) {
	for _, f := range []any{p.env.Stdin, p.env.Stdout, p.env.Stderr} {
		if file, ok := f.(*os.File); !ok || !term.IsTerminal(file.Fd()) || p.env.Loopback == nil {
			return nil
		}
	}
	all := backends.All()
	found := make([][2]string, len(all))
	var connecting sync.WaitGroup
	for i, b := range all {
		scheme := b.Schemes[0]
		for j, address := range p.env.Loopback(scheme.Port) {
			spawn.Go(ctx, &connecting, func() {
				if conn, err := (&net.Dialer{Timeout: soon}).DialContext(ctx, "tcp", address); err == nil {
					_ = conn.Close() // nothing was written
					found[i][j] = scheme.Name + "://" + address + b.Docs.Path
				}
			})
		}
	}
	connecting.Wait()
	for _, two := range found {
		if url := cmp.Or(two[0], two[1]); url != "" {
			urls = append(urls, url)
		}
	}
	return urls
}
