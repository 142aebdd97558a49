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
	"coordtop/internal/ground/spawn"
)

// offer asks the person at the terminal which server of this machine to watch. unnamed is the error about a missing
// source: offer prints it, and returns it if the person chooses no server.
func (p *program) offer(ctx context.Context, unnamed error) (config.Config, error) {
	urls := p.listening(ctx)
	if len(urls) == 0 {
		return config.Config{}, unnamed
	}
	p.report(ctx, unnamed)
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
			return config.Config{}, unnamed
		}
	}
}

const connectWithin = 200 * time.Millisecond // to this machine

// listening connects to the usual ports of this machine, sends nothing, and returns the URLs of those that
// accept; none unless standard input, output and error are terminals.
func (p *program) listening(ctx context.Context) (urls []string) {
	if p.env.Loopback == nil {
		return nil
	}
	for _, f := range []any{p.env.Stdin, p.env.Stdout, p.env.Stderr} {
		if file, ok := f.(*os.File); !ok || !term.IsTerminal(file.Fd()) {
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
				if conn, err := (&net.Dialer{Timeout: connectWithin}).DialContext(ctx, "tcp", address); err == nil {
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
