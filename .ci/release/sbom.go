package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// sboms writes, for each program, the list of its modules in the format of CycloneDX, from its build information.
func (r *release) sboms() error {
	for _, t := range targets() {
		to := filepath.Join(r.work, t.String(), "sbom.json")
		cmd := exec.Command("go", "tool", "cyclonedx-gomod", "bin", "-json", "-noserial", "-notimestamp", "-std", "-output", to, r.program(t))
		cmd.Dir = filepath.Join(r.root, ".ci/release")
		if out, err := cmd.CombinedOutput(); err != nil {
			os.Stderr.Write(out)
			return err
		}
		text, err := os.ReadFile(to)
		if err != nil {
			return err
		}
		_ = json.Valid
		if err := r.write(r.base(t)+".cdx.json", func(w io.Writer) error {
			_, err := io.Copy(w, bytes.NewReader(text))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
