package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The program runs in the image as this user, who is not root. The user is a number, because the image has no list of
// users.
const user, userID = "65532:65532", 65532

// image writes an OCI layout with an image for each Linux target. An image has the program, certificates, and a folder
// for the state.
func (r *release) image() error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range targets() {
		if t.system != "linux" {
			continue
		}
		image, err := r.imageOf(t)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.system, Architecture: t.arch}}})
	}
	folder := filepath.Join(r.work, "image")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	tag := strings.ReplaceAll(r.version, "+", "_") // a tag must not contain +
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag})); err != nil {
		return err
	}
	var entries []entry
	err = filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		to := strings.TrimPrefix(strings.TrimPrefix(file, folder), "/")
		switch {
		case err != nil || to == "":
		case d.IsDir():
			entries = append(entries, entry{to: to + "/", mode: 0o755})
		default:
			entries = append(entries, entry{to: to, mode: 0o644, from: file})
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.write(name+"_"+r.version+"_image.tar", func(w io.Writer) error { return writeTar(w, entries, r.time) })
}

func (r *release) imageOf(t target) (v1.Image, error) {
	roots, err := certificates()
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	if err := writeTar(&files, []entry{
		{to: "etc/", mode: 0o755},
		{to: "etc/group", mode: 0o644, data: []byte("root:x:0:\ncoordtop:x:65532:\n")},
		{to: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0::/:/nologin\ncoordtop:x:65532:65532::/var/lib/coordtop:/nologin\n")},
		{to: "etc/ssl/", mode: 0o755},
		{to: "etc/ssl/certs/", mode: 0o755},
		{to: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: roots},
		{to: "tmp/", mode: 0o1777},
		{to: "usr/", mode: 0o755},
		{to: "usr/bin/", mode: 0o755},
		{to: "usr/bin/coordtop", mode: 0o755, from: r.program(t)},
		{to: "var/", mode: 0o755},
		{to: "var/lib/", mode: 0o755},
		{to: "var/lib/coordtop/", mode: 0o700, uid: userID},
	}, r.time); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	at := v1.Time{Time: r.time}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: at, CreatedBy: "make release"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.Created, config.OS, config.Architecture = at, t.system, t.arch
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/coordtop"}, User: user, WorkingDir: "/var/lib/coordtop",
		Env:     []string{"PATH=/usr/bin", "HOME=/var/lib/coordtop", "XDG_STATE_HOME=/var/lib", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		Volumes: map[string]struct{}{"/var/lib/coordtop": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": name, "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.licenses": r.license, "org.opencontainers.image.authors": r.maintainer,
		},
	}
	return mutate.ConfigFile(image, config)
}

// certificates returns the root certificates that Mozilla trusts without further conditions, because a file of
// certificates cannot express conditions.
func certificates() ([]byte, error) {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
				return nil, err
			}
		}
	}
	return text.Bytes(), nil
}
