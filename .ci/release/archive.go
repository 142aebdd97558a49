package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// entry is a file of an archive, or a folder if its name ends in a slash.
type entry struct {
	to   string
	mode int64
	from string // a file
	data []byte // content if from is empty
	uid  int    // also the group
}

// archives writes a tar.gz for each target.
func (r *release) archives() error {
	for _, t := range targets() {
		top := r.base(t) + "/"
		entries := []entry{
			{to: top, mode: 0o755},
			{to: top + "coordtop", mode: 0o755, from: r.program(t)},
			{to: top + "README.md", mode: 0o644, from: r.staged("README.md")},
			{to: top + "CHANGELOG.md", mode: 0o644, from: r.staged("CHANGELOG.md")},
			{to: top + "config.example.yaml", mode: 0o644, from: r.staged("config.example.yaml")},
			{to: top + "coordtop.1", mode: 0o644, from: r.staged("coordtop.1")},
			{to: top + "completions/", mode: 0o755},
			{to: top + "completions/coordtop.bash", mode: 0o644, from: r.staged("coordtop.bash")},
			{to: top + "completions/_coordtop", mode: 0o644, from: r.staged("_coordtop")},
			{to: top + "completions/coordtop.fish", mode: 0o644, from: r.staged("coordtop.fish")},
		}
		if t.system == "linux" {
			entries = append(entries, entry{to: top + "coordtop-record.service", mode: 0o644, from: r.staged("coordtop-record.service")})
		}
		if err := r.write(r.base(t)+".tar.gz", func(w io.Writer) error {
			z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
			if err != nil {
				return err
			}
			return errors.Join(writeTar(z, entries, r.time), z.Close())
		}); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file into the folder of the results.
func (r *release) write(file string, content func(io.Writer) error) (err error) {
	f, err := os.Create(filepath.Join(r.out, file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return content(f)
}

// writeTar writes entries that all have the same time.
func writeTar(w io.Writer, entries []entry, at time.Time) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		data := e.data
		if e.from != "" {
			var err error
			if data, err = os.ReadFile(e.from); err != nil {
				return err
			}
		}
		h := &tar.Header{Name: e.to, Mode: e.mode, Size: int64(len(data)), ModTime: at, Uid: e.uid, Gid: e.uid, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if e.to[len(e.to)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return t.Close()
}
