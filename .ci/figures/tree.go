package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// file is a Go file of the tree.
type file struct {
	path  string // from the root, with slashes
	lines []string
	code  int // lines that are neither blank nor a comment
	kind  kind
	ast   *ast.File
}

// kind distinguishes the code of the program from the code that tests it.
type kind int

const (
	product kind = iota
	support      // support for tests: emulators, conformance suites, private servers, comparisons from outside
	test
)

// supports matches the paths of files that support tests.
var supports = regexp.MustCompile(`^\.ci/|(^|/)testdata/|test/|^internal/(emulator|localserver|truth|incidents|stories|lint|shots|raced)/`)

// tree holds all Go files below a folder except generated ones.
type tree []file

func read(dir string) (t tree, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go"):
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		f, err := readFile(dir, filepath.ToSlash(rel))
		t = append(t, f)
		return err
	})
	return t, err
}

func readFile(dir, p string) (file, error) {
	src, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
	if err != nil {
		return file{}, err
	}
	f := file{path: p, lines: strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")}
	switch {
	case strings.HasSuffix(p, "_test.go"):
		f.kind = test
	case supports.MatchString(p):
		f.kind = support
	}
	set := token.NewFileSet()
	if f.ast, err = parser.ParseFile(set, p, src, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return file{}, err
	}
	comment := map[int]bool{} // lines that begin with a comment
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			first, last := set.Position(c.Pos()), set.Position(c.End())
			for line := first.Line; line <= last.Line; line++ {
				if line > first.Line || strings.TrimSpace(f.lines[line-1][:first.Column-1]) == "" {
					comment[line] = true
				}
			}
		}
	}
	for i, line := range f.lines {
		if strings.TrimSpace(line) != "" && !comment[i+1] {
			f.code++
		}
	}
	return f, nil
}

func (f *file) folder() string { return path.Dir(f.path) }

// isDoc reports whether the file is a package's doc.go.
func (f *file) isDoc() bool { return path.Base(f.path) == "doc.go" }
