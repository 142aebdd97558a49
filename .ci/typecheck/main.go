// Typecheck checks the types of this module and its tests as the compiler does for another system:
// typecheck GOOS. It compiles nothing: what is imported is read from source, without the bodies of functions,
// where a compiler would first translate some 700 packages for that system. It prints what is wrong, and fails then.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// arch is that of the Macs that are sold.
const arch = "arm64"

// listed is a package as go list knows it.
type listed struct {
	Dir, Name, ImportPath string
	GoFiles, CgoFiles     []string
	Imports               []string
	ImportMap             map[string]string
	Module                *struct {
		Main      bool
		GoVersion string
	}

	done    chan struct{} // closed when types is there
	checked *types.Package
	wrong   []error // of packages of this module
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS")
		os.Exit(2)
	}
	ours, err := check(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("typecheck: %d packages and tests for %s\n", ours, os.Args[1])
}

// check returns how many packages of this module it checked, and what is wrong with them.
func check(goos string) (ours int, err error) {
	packages, err := list(goos)
	if err != nil {
		return 0, err
	}
	byPath := map[string]*listed{}
	for _, p := range packages {
		byPath[p.ImportPath] = p
	}
	fset, slots := token.NewFileSet(), make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for _, p := range packages {
		running.Go(func() {
			defer close(p.done)
			for _, path := range p.Imports { // go list has replaced them as ImportMap says
				if other := byPath[path]; other != nil {
					<-other.done
				}
			}
			slots <- struct{}{}
			p.check(fset, byPath)
			<-slots
		})
	}
	running.Wait()
	for _, p := range packages {
		if p.Module != nil && p.Module.Main {
			ours++
			err = errors.Join(err, errors.Join(p.wrong...))
		}
	}
	if err == nil && ours < 60 {
		err = fmt.Errorf("typecheck: found %d packages: it does not see the module", ours)
	}
	return ours, err
}

func list(goos string) ([]*listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=Dir,Name,ImportPath,GoFiles,CgoFiles,Imports,ImportMap,Module", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []*listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := &listed{done: make(chan struct{})}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list prints: %w", err)
		}
		if !strings.HasSuffix(p.ImportPath, ".test") { // the main functions that go test writes
			packages = append(packages, p)
		}
	}
}

// check is called when the packages that p imports are checked.
func (p *listed) check(fset *token.FileSet, byPath map[string]*listed) {
	if p.ImportPath == "unsafe" {
		p.checked = types.Unsafe
		return
	}
	ours := p.Module != nil && p.Module.Main
	mode := parser.SkipObjectResolution
	if ours {
		mode |= parser.ParseComments // they hold //go:build, which the checker reads
	}
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(fset, name, nil, mode)
		if err != nil {
			p.wrong = append(p.wrong, err)
			continue
		}
		files = append(files, f)
	}
	config := types.Config{
		IgnoreFuncBodies: !ours,
		Sizes:            types.SizesFor("gc", arch),
		Error:            func(err error) { p.wrong = append(p.wrong, err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if other := byPath[path]; other != nil && other.checked != nil {
				return other.checked, nil
			}
			return nil, fmt.Errorf("%s is not there", path)
		}),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ") // "a [b.test]" is a as the tests of b see it
	p.checked, _ = config.Check(path, fset, files, nil)
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
