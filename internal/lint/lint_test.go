//go:build !race

package lint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "coordtop"

// file is one parsed source file.
type file struct {
	path  string // relative to the module, with slashes
	dir   string
	test  bool
	lines int
	ast   *ast.File
	fset  *token.FileSet
}

// rule is something that holds for all files at once. check returns a sentence a breach.
type rule struct {
	name  string
	check func([]file) []string
	// breaks and keeps are small modules: sources by path. Each of the first breaks the
	// rule once, the second, if any, not at all.
	breaks []map[string]string
	keeps  map[string]string
}

func rules() []rule {
	return slices.Concat(importRules(), screenRules(), sizeRules(), callRules(), spawnRules(), wordRules())
}

func TestModuleKeepsItsRules(t *testing.T) {
	t.Parallel()
	files := setup(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, breach := range r.check(files) {
				t.Error(breach)
			}
		})
	}
}

func TestEachRuleSeesItsBreach(t *testing.T) {
	t.Parallel()
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if len(r.breaks) == 0 {
				t.Error("nothing shows that the rule can be broken")
			}
			for _, sources := range r.breaks {
				if got := r.check(parse(t, sources)); len(got) != 1 {
					t.Errorf("%d breaches %q, want 1, in %q", len(got), got, sources)
				}
			}
			if got := r.check(parse(t, r.keeps)); len(got) > 0 {
				t.Errorf("breaches %q in %q", got, r.keeps)
			}
		})
	}
}

// parse makes files of sources.
func parse(t *testing.T, sources map[string]string) []file {
	t.Helper()
	var files []file
	for name, src := range sources {
		f, err := newFile(name, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

func newFile(name string, src []byte) (file, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	return file{
		path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		lines: strings.Count(string(src), "\n"), ast: parsed, fset: fset,
	}, err
}

// setup parses every Go file of the module.
func setup(t *testing.T) []file {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := newFile(filepath.ToSlash(rel), src)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found %d files: the walk does not see the module", len(files))
	}
	return files
}

// imports returns the paths that the file imports.
func (f file) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser has seen it
		paths = append(paths, p)
	}
	return paths
}

// own returns the packages of this module that the file imports, relative to it.
func (f file) own() []string {
	var own []string
	for _, p := range f.imports() {
		if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			own = append(own, rest)
		}
	}
	return own
}

// shipped is whether the file is part of the program and not only of tests.
func (f file) shipped() bool { return !f.test && !strings.HasSuffix(f.dir, "test") }

func (f file) at(n ast.Node) string {
	p := f.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", f.path, p.Line)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// calls reports each call of a function of a package, by their names.
func (f file) calls(pkg string, names ...string) []*ast.SelectorExpr {
	var found []*ast.SelectorExpr
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg && slices.Contains(names, sel.Sel.Name) {
				found = append(found, sel)
			}
		}
		return true
	})
	return found
}
