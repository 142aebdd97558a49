package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "coordtop"

// file is one parsed source file of the module.
type file struct {
	path  string // relative to the module, with slashes
	dir   string
	test  bool
	lines int
	ast   *ast.File
	fset  *token.FileSet
}

// own returns the packages of this module that the file imports, relative to it.
func (f file) own() []string {
	var own []string
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			own = append(own, rest)
		}
	}
	return own
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
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files = append(files, file{
			path: rel, dir: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"),
			lines: strings.Count(string(src), "\n"), ast: parsed, fset: fset,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found %d files: the walk does not see the module", len(files))
	}
	return files
}

// directions says what the packages of a folder may import of this module: path.Match
// patterns. The first rule that matches a folder counts. Tests may import more; the
// rules hold for what is shipped.
var directions = []struct {
	dir   string
	allow []string
}{
	{".", []string{"internal/app"}},
	{"coord", []string{"internal/backoff", "internal/format"}},
	{"coord/coordtest", []string{"coord", "internal/backoff"}},
	{"coord/*coord", []string{"coord", "internal/backoff", "internal/certs"}},
	{"sources", []string{"internal/backoff", "internal/format"}},
	{"sources/sourcetest", []string{"sources"}},
	{"sources/*source", []string{"sources", "coord/*coord", "internal/backoff", "internal/format"}},
	{"ui", []string{"ui/*", "sources", "internal/action", "internal/format"}},
	{"ui/uitest", []string{"sources", "sources/sourcetest", "internal/action"}},
	{"ui/*", []string{"ui/*", "sources", "internal/format"}},
	{"internal/action", []string{"sources"}},
	{"internal/operate", []string{"coord", "sources", "internal/action", "internal/backoff", "internal/format"}},
	{"internal/backoff", nil},
	{"internal/certs", nil},
	{"internal/format", nil},
	{"internal/lint", nil},
	{"internal/localserver", nil},
	{"internal/emulator/*", nil},
	{"internal/config", []string{"internal/certs", "internal/format", "sources"}},
	{"internal/headless", []string{"sources", "internal/format"}},
	{"internal/demo", []string{"coord", "coord/*coord", "internal/backoff", "internal/format", "internal/localserver", "internal/emulator/*"}},
	{"internal/app", []string{"coord", "coord/*coord", "sources", "sources/*source", "ui", "internal/*"}},
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

func TestImportsPointDownwards(t *testing.T) {
	t.Parallel()
	for _, f := range setup(t) {
		if f.test {
			continue
		}
		rule := -1
		for i, d := range directions {
			if ok, _ := path.Match(d.dir, f.dir); ok {
				rule = i
				break
			}
		}
		if rule < 0 {
			t.Errorf("%s: no rule says what packages in %q may import: add one to directions", f.path, f.dir)
			continue
		}
		for _, p := range f.own() {
			if !matchesAny(directions[rule].allow, p) {
				t.Errorf("%s imports %s; %q may import only %q", f.path, p, f.dir, directions[rule].allow)
			}
		}
	}
}

func TestNothingImportsTheProgram(t *testing.T) {
	t.Parallel()
	for _, f := range setup(t) {
		if f.path == "main.go" || f.dir == "internal/app" {
			continue
		}
		for _, p := range f.own() {
			if p == "internal/app" {
				t.Errorf("%s imports %s", f.path, p)
			}
		}
	}
}

// network is what the screens must not reach: their state comes through an interface.
var network = []string{"net", "net/*", "os/exec", "github.com/redis/*/*", "github.com/redis/*"}

func TestScreensTalkToNoNetwork(t *testing.T) {
	t.Parallel()
	for _, f := range inUI(t) {
		for _, spec := range f.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			if !f.test && matchesAny(network, p) {
				t.Errorf("%s imports %s", f.path, p)
			}
		}
	}
}

func TestScreensTakeTheTimeFromTheirFeed(t *testing.T) {
	t.Parallel()
	banned := map[string]bool{"Now": true, "Since": true, "Until": true}
	for _, f := range inUI(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && banned[sel.Sel.Name] {
				t.Errorf("%s calls time.%s: a replay shows another time than now", f.fset.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

func inUI(t *testing.T) []file {
	t.Helper()
	var in []file
	for _, f := range setup(t) {
		if f.dir == "ui" || strings.HasPrefix(f.dir, "ui/") {
			in = append(in, f)
		}
	}
	if len(in) == 0 {
		t.Fatal("found no file under ui/")
	}
	return in
}

func TestFilesStaySmallEnoughToRead(t *testing.T) {
	t.Parallel()
	const most = 400
	for _, f := range setup(t) {
		if !f.test && f.lines > most {
			t.Errorf("%s has %d lines, %d at most: split it by concept", f.path, f.lines, most)
		}
	}
}

func TestNoPackageStartsItself(t *testing.T) {
	t.Parallel()
	for _, f := range setup(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", f.path)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, f := range setup(t) {
		if !f.test {
			documented[f.dir] = documented[f.dir] || f.ast.Doc != nil
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package in %q has no package comment", dir)
		}
	}
}
