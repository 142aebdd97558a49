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
