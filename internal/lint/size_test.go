package lint_test

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
	"unicode"
)

// The most lines of a file and of a function.
const (
	mostFile     = 400
	mostFunction = 80
	mostCase     = 12 // of a flat switch
	mostUnmapped = 40 // files of a package whose names are all there is to go by
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
			name: "doc.go of a package of many files says where everything stands", check: mapped,
			breaks: []map[string]string{many("// Package a is f1*.go f2*.go f3*.go f4*.go f5*.go f6*.go f7*.go f8*.go f9*.go\n")},
			keeps:  many("// Package a is f*.go\n"),
		},
	}
}

// many is a package with so many files that nobody finds anything without a map; f0.go is
// one of them.
func many(doc string) map[string]string {
	sources := map[string]string{"a/doc.go": doc + "package a\n", "a/f0.go": "package a\n"}
	for i := 1; i < mostUnmapped; i++ {
		sources[fmt.Sprintf("a/f%d.go", i)] = "package a\n"
	}
	return sources
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

// mapped looks for each file of a large package in its doc.go, by name or by a pattern.
func mapped(files []file) []string {
	names, doc := map[string][]string{}, map[string][]string{}
	for _, f := range files {
		switch {
		case f.test:
		case path.Base(f.path) != "doc.go":
			names[f.dir] = append(names[f.dir], path.Base(f.path))
		case f.ast.Doc != nil:
			doc[f.dir] = strings.FieldsFunc(f.ast.Doc.Text(), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(),;:", r) })
		}
	}
	var wrong []string
	for dir, list := range names {
		for _, name := range list {
			if len(list) >= mostUnmapped && !matchesAny(doc[dir], name) {
				wrong = append(wrong, fmt.Sprintf("%s/doc.go does not say what stands in %s", dir, name))
			}
		}
	}
	return wrong
}
