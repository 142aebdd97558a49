package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stage makes the files beside the program that are the same for all targets, from the program's own commands or from
// the clone.
func (r *release) stage() error {
	program, err := r.here()
	if err != nil {
		return err
	}
	for file, args := range map[string]string{
		"coordtop.1": "man", "coordtop.bash": "completion bash", "_coordtop": "completion zsh", "coordtop.fish": "completion fish",
		"config.example.yaml": "config example",
	} {
		cmd := exec.Command(program, strings.Fields(args)...)
		cmd.Env = []string{"HOME=" + r.work, "NO_COLOR=1"} // so that nothing of the person's environment gets into the files
		text, err := cmd.Output()
		if err != nil {
			return err
		}
		if err := r.put(file, text); err != nil {
			return err
		}
	}
	for file, from := range map[string]string{
		"README.md": "README.md", "coordtop-record.service": ".ci/release/files/coordtop-record.service", "config.yaml": ".ci/release/files/config.yaml",
	} {
		text, err := os.ReadFile(filepath.Join(r.root, from))
		if err != nil {
			return err
		}
		if err := r.put(file, text); err != nil {
			return err
		}
	}
	return r.zip("coordtop.1")
}

func (r *release) staged(file string) string { return filepath.Join(r.work, file) }

func (r *release) put(file string, text []byte) error {
	return os.WriteFile(r.staged(file), text, 0o644)
}

// zip writes a compressed copy of a file.
func (r *release) zip(file string) error {
	text, err := os.ReadFile(r.staged(file))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	return r.put(file+".gz", b.Bytes())
}
