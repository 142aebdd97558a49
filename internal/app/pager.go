package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// page shows a text on the terminal through $PAGER, or less, and prints it where there is no terminal,
// or no pager.
func (p *program) page(ctx context.Context, text string) error {
	pager, set := p.env.Lookup("PAGER")
	if _, err := exec.LookPath("less"); !set && err == nil {
		pager = "less"
	}
	kind, _ := p.env.Lookup("TERM")
	if pager = strings.TrimSpace(pager); p.env.Terminal() && kind != "dumb" && pager != "" && pager != "cat" {
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", pager)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(text), p.env.Stdout, p.env.Stderr, p.env.Environ
		if _, set := p.env.Lookup("LESS"); !set {
			cmd.Env = append(cmd.Env, "LESS=FRX") // as git: quits if all fits, shows styles, leaves the screen
		}
		if _, ok := p.env.Stdout.(*os.File); ok {
			signal.Ignore(os.Interrupt) // ctrl+c is for the pager
		}
		exit := new(exec.ExitError)
		if err := cmd.Run(); err == nil || errors.As(err, &exit) && exit.ExitCode() < 126 { // from there on the shell could not run it
			return nil // also where it was quit before its end
		}
	}
	_, err := fmt.Fprint(p.env.Stdout, text)
	return err
}
