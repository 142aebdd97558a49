package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const name = "coordtop"

// release is one build of all packages.
type release struct {
	root string // folder of the clone
	out  string
	work string // a temporary folder

	maintainer, license, homepage string

	version string // as the program prints it, without the v
	commit  string
	time    time.Time // time of all files
	began   time.Time
}

func main() {
	r := &release{began: time.Now()}
	flag.StringVar(&r.root, "root", "../..", "the `folder` of the clone")
	flag.StringVar(&r.out, "out", "../../dist", "the `folder` for the result, which is made anew")
	flag.StringVar(&r.maintainer, "maintainer", "unset", "who maintains the packages, as `Name <address>`")
	flag.StringVar(&r.license, "license", "unset", "the `SPDX` name of the licence")
	flag.StringVar(&r.homepage, "homepage", "", "the `URL` of the project")
	flag.Parse()
	if err := r.run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run() (err error) {
	for _, path := range []*string{&r.root, &r.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err := r.describe(); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "coordtop-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"programs", r.build},
		{"manual page, completions", r.stage},
		{"changelog", r.changelog},
		{"archives", r.archives},
		{"deb and rpm", r.packages},
		{"image", r.image},
		{"lists of what is in the programs", r.sboms},
		{"checksums", r.sums},
	} {
		r.say(step.what)
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	r.say("done: " + r.out)
	return nil
}

func (r *release) say(what string) {
	fmt.Fprintf(os.Stderr, "release: %5.1f s  %s\n", time.Since(r.began).Seconds(), what)
}

// describe reads the commit and its time from git. It refuses uncommitted changes, because nobody could find them
// again.
func (r *release) describe() error {
	changed, err := r.git("status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("a release is built from a commit, and these are not committed:\n%s", changed)
	}
	if r.commit, err = r.git("rev-parse", "HEAD"); err != nil {
		return err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = r.git("log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is no number of seconds: %q", seconds)
	}
	r.time = time.Unix(epoch, 0).UTC()
	return nil
}

func (r *release) git(args ...string) (string, error) {
	return output(exec.Command("git", append([]string{"-C", r.root}, args...)...))
}

// output runs a command and returns what it printed, without the last line break.
func output(cmd *exec.Cmd) (string, error) {
	var wrong strings.Builder
	if cmd.Stderr == nil {
		cmd.Stderr = &wrong
	}
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, wrong.String())
	}
	return strings.TrimRight(string(text), "\n"), nil
}
