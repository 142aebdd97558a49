// Typecheck checks the types of this module and its tests for another system: typecheck GOOS. It compiles nothing. It
// reads imported packages from source, without the bodies of functions, which is faster than compiling some 700
// packages for that system. It prints the errors, and exits with a failure if there are any.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS")
		os.Exit(2)
	}
	ours, wrong := check(os.Args[1])
	for _, err := range wrong {
		fmt.Fprintln(os.Stderr, err)
	}
	if len(wrong) > 0 {
		os.Exit(1)
	}
	fmt.Printf("typecheck: %d packages and tests for %s\n", ours, os.Args[1])
}

// check returns how many packages of this module it checked, and their errors.
func check(goos string) (ours int, wrong []error) {
	here, err := os.Getwd()
	if err != nil {
		return 0, []error{err}
	}
	roots, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH=arm64", "CGO_ENABLED=0"), // arm64, like present Macs
		Tests: true,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			if strings.HasPrefix(name, here+string(os.PathSeparator)) {
				return parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
			}
			f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if f != nil {
				for _, d := range f.Decls {
					if function, ok := d.(*ast.FuncDecl); ok {
						function.Body = nil
					}
				}
			}
			return f, err
		},
	}, "./...")
	if err != nil {
		return 0, []error{err}
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.PkgPath, ".test") { // .test: packages that go test generates
			return
		}
		ours++
		for _, err := range p.Errors {
			wrong = append(wrong, err)
		}
	})
	if ours < 60 {
		wrong = append(wrong, fmt.Errorf("typecheck: found %d packages: it does not see the module", ours))
	}
	return ours, wrong
}
