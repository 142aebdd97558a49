package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// sums writes the checksums of all other files in the format of sha256sum -c.
func (r *release) sums() error {
	files, err := os.ReadDir(r.out) // in order
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	return r.write("SHA256SUMS", func(w io.Writer) error {
		_, err := io.WriteString(w, text.String())
		return err
	})
}
