package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// target is a system that the program is built for.
type target struct{ system, arch string }

func targets() []target {
	return []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}
}

func (t target) String() string { return t.system + "_" + t.arch }

// base returns the beginning of the names of the files for t.
func (r *release) base(t target) string { return name + "_" + r.version + "_" + t.String() }

func (r *release) program(t target) string { return filepath.Join(r.work, t.String(), name) }

// build builds the programs like make build, and reads the version that the go command put into them.
func (r *release) build() error {
	for _, t := range targets() {
		r.say("  " + t.String())
		cmd := exec.Command("go", "build", "-buildvcs=true", "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", r.program(t), ".")
		cmd.Dir = r.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+t.system, "GOARCH="+t.arch)
		cmd.Stderr = os.Stderr
		if _, err := output(cmd); err != nil {
			return err
		}
	}
	info, err := buildinfo.ReadFile(r.program(targets()[0]))
	if err != nil {
		return err
	}
	if !strings.HasPrefix(info.Main.Version, "v") {
		return errors.New("the go command stamped no version: build in a clone, not in a worktree or an archive of it")
	}
	r.version = strings.TrimPrefix(info.Main.Version, "v")
	return nil
}

// here returns the path of the program that this machine can run.
func (r *release) here() (string, error) {
	for _, t := range targets() {
		if t.system == runtime.GOOS && t.arch == runtime.GOARCH {
			return r.program(t), nil
		}
	}
	return "", errors.New("none of the programs runs here: its manual page and completions cannot be made on " + runtime.GOOS + "/" + runtime.GOARCH)
}
