package main

import (
	"io"
	"io/fs"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the formats register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// format is a kind of package with its differences.
type format struct {
	name    string
	zsh     string // the folder of completions for zsh
	depends string // the package that makes the user
}

func formats() []format {
	return []format{
		{name: "deb", zsh: "/usr/share/zsh/vendor-completions", depends: "passwd"},
		{name: "rpm", zsh: "/usr/share/zsh/site-functions", depends: "/usr/sbin/useradd"},
	}
}

// packages writes a deb and an rpm for each Linux target.
func (r *release) packages() error {
	for _, t := range targets() {
		if t.system != "linux" {
			continue
		}
		for _, f := range formats() {
			info := nfpm.WithDefaults(r.info(t, f))
			packager, err := nfpm.Get(f.name)
			if err != nil {
				return err
			}
			if err := r.write(packager.ConventionalFileName(info), func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) info(t target, f format) *nfpm.Info {
	script := func(name string) string { return filepath.Join(r.root, ".ci/release/files", name) }
	info := &nfpm.Info{
		Name: name, Arch: t.arch, Platform: t.system, Version: r.version, Section: "admin", Priority: "optional",
		Maintainer: r.maintainer, License: r.license, Homepage: r.homepage, MTime: r.time,
		Description: "top for coordination state\nShows live, in one list, who leads, who owns and who waits: leader and lock keys of Redis, advisory locks of\n" +
			"Postgres, coordination nodes of YDB, dflockd. The service coordtop-record, which is not started before it is\nconfigured, records it.",
	}
	info.Depends, info.Recommends = []string{f.depends}, []string{"ca-certificates"}
	info.Scripts = nfpm.Scripts{PreInstall: script("before-install"), PostInstall: script("after-install"), PreRemove: script("before-remove"), PostRemove: script("after-remove")}
	info.RPM.BuildHost = "unset"
	add := func(from, to string, mode uint32, kind string) {
		info.Contents = append(info.Contents, &files.Content{
			Source: from, Destination: to, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: fs.FileMode(mode), MTime: r.time},
		})
	}
	add(r.program(t), "/usr/bin/coordtop", 0o755, files.TypeFile)
	add("", "/etc/coordtop", 0o755, files.TypeDir)
	add(r.staged("config.yaml"), "/etc/coordtop/config.yaml", 0o644, files.TypeConfigNoReplace)
	for to, file := range map[string]string{
		"/usr/lib/systemd/system/coordtop-record.service":    "coordtop-record.service",
		"/usr/share/bash-completion/completions/coordtop":    "coordtop.bash",
		"/usr/share/doc/coordtop/README.md":                  "README.md",
		"/usr/share/doc/coordtop/changelog.gz":               "CHANGELOG.md.gz",
		"/usr/share/doc/coordtop/config.example.yaml":        "config.example.yaml",
		"/usr/share/fish/vendor_completions.d/coordtop.fish": "coordtop.fish",
		"/usr/share/man/man1/coordtop.1.gz":                  "coordtop.1.gz",
		f.zsh + "/_coordtop":                                 "_coordtop",
	} {
		add(r.staged(file), to, 0o644, files.TypeFile)
	}
	return info
}
