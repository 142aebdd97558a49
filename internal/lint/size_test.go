//go:build !race

package lint_test

import (
	"fmt"
	"go/ast"
	"strings"
)

// The most lines of a file and of a function.
const (
	mostFile     = 400
	mostFunction = 80
	mostCase     = 12 // of a flat switch
	mostScreen   = 25 // files of package ui, above its layers
	mostMethods  = 40 // of a type in a layer of ui
	mostModel    = 100
)

func sizeRules() []rule {
	long := func(lines int) string { return strings.Repeat("\t_ = 0\n", lines) }
	table := "package a\nfunc f() []int {\n\treturn []int{\n" + strings.Repeat("\t\t1,\n", 100) + "\t}\n}\n"
	flat := "package a\nfunc f(n int) int {\n\tswitch n {\n" + strings.Repeat("\tcase 1:\n\t\treturn 2\n", 50) + "\t}\n\treturn 0\n}\n"
	deep := "package a\nfunc f(n int) {\n\tswitch n {\n\tcase 1:\n" + long(90) + "\t}\n}\n"
	return []rule{
		{
			name: "files are short enough to read", check: shortFiles,
			breaks: []map[string]string{
				{"a/a.go": "package a\n" + strings.Repeat("\n", mostFile)},
				{"a/a_test.go": "package a\n" + strings.Repeat("\n", mostFile)},
			},
			keeps: map[string]string{"a/a_test.go": "package a\n" + strings.Repeat("\n", mostFile-1)},
		},
		{
			name: "functions are short, but for a table or a flat switch", check: shortFunctions,
			breaks: []map[string]string{{"a/a.go": "package a\nfunc f() {\n" + long(mostFunction) + "}\n"}, {"a/a.go": deep}},
			keeps:  map[string]string{"a/a.go": table, "a/b.go": flat},
		},
		{
			name: "every package says in doc.go what it is for", check: documented,
			breaks: []map[string]string{{"a/a.go": "// Package a is.\npackage a\n"}, {"a/doc.go": "package a\n"}},
			keeps:  map[string]string{"a/doc.go": "// Package a is.\npackage a\n", "a/b.go": "package a\n", "main.go": "// Command coordtop.\npackage main\n"},
		},
		{
			name: "the board stays in layers of small types", check: smallBoard,
			breaks: []map[string]string{boardOf(mostScreen+1, 1), boardOf(1, mostModel+1)},
			keeps:  boardOf(mostScreen, mostModel),
		},
	}
}

func shortFiles(files []file) []string {
	var wrong []string
	for _, f := range files {
		if f.lines > mostFile {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines, %d at most: split it by concept", f.path, f.lines, mostFile))
		}
	}
	return wrong
}

func shortFunctions(files []file) []string {
	var wrong []string
	for _, f := range files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if n := f.length(fn) - f.flatPart(fn.Body); n > mostFunction {
				wrong = append(wrong, fmt.Sprintf("%s: %s has %d lines, %d at most", f.at(fn), fn.Name.Name, n, mostFunction))
			}
		}
	}
	return wrong
}

func (f file) length(n ast.Node) int {
	return f.fset.Position(n.End()).Line - f.fset.Position(n.Pos()).Line + 1
}

// flatPart is how many lines the longest table or flat switch has: it is read line by
// line, however long.
func (f file) flatPart(body ast.Node) int {
	most := 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			most = max(most, f.length(n))
		case *ast.SwitchStmt:
			for _, s := range n.Body.List {
				if f.length(s) > mostCase {
					return true
				}
			}
			most = max(most, f.length(n))
		}
		return true
	})
	return most
}

// documented exempts the program itself, which is one file.
func documented(files []file) []string {
	said := map[string]bool{}
	for _, f := range files {
		if !f.test && f.dir != "." {
			said[f.dir] = said[f.dir] || strings.HasSuffix(f.path, "/doc.go") && f.ast.Doc != nil
		}
	}
	var wrong []string
	for dir, ok := range said {
		if !ok {
			wrong = append(wrong, fmt.Sprintf("the package in %q has no doc.go with its contract", dir))
		}
	}
	return wrong
}

// boardOf is a package ui of so many files whose model has so many methods.
func boardOf(files, methods int) map[string]string {
	sources := map[string]string{"ui/f0.go": "package ui\ntype model struct{}\n"}
	for i := range methods {
		sources["ui/f0.go"] += fmt.Sprintf("func (m *model) f%d() {}\n", i)
	}
	for i := 1; i < files; i++ {
		sources[fmt.Sprintf("ui/f%d.go", i)] = "package ui\n"
	}
	return sources
}

func smallBoard(files []file) []string {
	var wrong []string
	board, methods := 0, map[string]int{}
	for _, f := range files {
		if f.test || !inUI(f) {
			continue
		}
		if f.dir == "ui" {
			board++
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				t := fn.Recv.List[0].Type
				if star, ok := t.(*ast.StarExpr); ok {
					t = star.X
				}
				if name, ok := t.(*ast.Ident); ok {
					methods[f.dir+"."+name.Name]++
				}
			}
		}
	}
	if board > mostScreen {
		wrong = append(wrong, fmt.Sprintf("ui has %d files, %d at most: move what draws or decides into its layer", board, mostScreen))
	}
	for name, n := range methods {
		if n > mostMethods && name != "ui.model" || n > mostModel {
			wrong = append(wrong, fmt.Sprintf("%s has %d methods: part it by concept", name, n))
		}
	}
	return wrong
}
