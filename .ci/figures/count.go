package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (t tree) figures() []figure {
	short, names := t.names()
	return []figure{
		{"lines of product code", strconv.Itoa(t.code(product))},
		{"lines of test support", strconv.Itoa(t.code(support))},
		{"lines of tests", strconv.Itoa(t.code(test))},
		{"folders with more than 30 Go files, without tests", over(30, t.flat())},
		{"types with more than 60 methods, with those of types that embed them, or that they embed", over(60, t.methods())},
		{"types with more than 24 fields", over(24, t.fields())},
		{"product files under 40 lines, without doc.go (at most 15)", strconv.Itoa(short)},
		{"base names that stand twice or more, without tests (at most 55)", strconv.Itoa(names)},
		{"comments that begin 'X is how' or the like", strconv.Itoa(t.riddles())},
	}
}

func (t tree) code(k kind) (n int) {
	for _, f := range t {
		if f.kind == k {
			n += f.code
		}
	}
	return n
}

// flat counts the Go files in each folder, without tests.
func (t tree) flat() map[string]int {
	files := map[string]int{}
	for _, f := range t {
		if f.kind != test {
			files[f.folder()]++
		}
	}
	return files
}

// named is the folder and the name of a type of the product.
type named struct{ folder, name string }

func (n named) String() string { return path.Base(n.folder) + "." + n.name }

// methods counts for each type its own methods, those of types of its package that embed it, and those of the types of
// other packages that it embeds.
func (t tree) methods() map[string]int {
	own, embedding, embedded := map[named]int{}, map[named][]named{}, map[named][]named{}
	folders := map[string]string{} // by the name of the package
	t.declarations(func(f *file, d ast.Decl) {
		folders[f.ast.Name.Name] = f.folder()
		if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil {
			own[named{f.folder(), receiver(m.Recv.List[0].Type)}]++
		}
	})
	t.structs(func(n named, s *ast.StructType) {
		for _, field := range s.Fields.List {
			if len(field.Names) > 0 {
				continue
			}
			if other, ok := unpointed(field.Type).(*ast.SelectorExpr); ok {
				embedded[n] = append(embedded[n], named{folders[receiver(other.X)], other.Sel.Name})
			} else {
				inner := named{n.folder, receiver(field.Type)}
				embedding[inner] = append(embedding[inner], n)
			}
		}
	})
	var all func(n named, seen map[named]bool) int
	all = func(n named, seen map[named]bool) int {
		if seen[n] {
			return 0
		}
		seen[n] = true
		sum := own[n]
		for _, inner := range embedded[n] {
			sum += own[inner]
		}
		for _, outer := range embedding[n] {
			sum += all(outer, seen)
		}
		return sum
	}
	sums := map[string]int{}
	for n := range own {
		sums[n.String()] = all(n, map[named]bool{})
	}
	return sums
}

// fields counts the fields of types with a method that changes its receiver. Other types are records. Options, tables
// of glyphs and types for JSON also do not count.
func (t tree) fields() map[string]int {
	changes, count := map[named]bool{}, map[string]int{}
	t.declarations(func(f *file, d ast.Decl) {
		if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && assigns(m) {
			changes[named{f.folder(), receiver(m.Recv.List[0].Type)}] = true
		}
	})
	t.structs(func(n named, s *ast.StructType) {
		if changes[n] && !strings.HasSuffix(n.name, "Options") && !strings.HasSuffix(n.name, "Glyphs") && !strings.HasSuffix(n.name, "JSON") {
			count[n.String()] = s.Fields.NumFields()
		}
	})
	return count
}

// assigns reports whether a method changes a field of its receiver.
func assigns(m *ast.FuncDecl) (found bool) {
	if len(m.Recv.List[0].Names) == 0 || m.Body == nil {
		return false
	}
	of := m.Recv.List[0].Names[0].Name
	isField := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x, ok := s.X.(*ast.Ident)
		return ok && x.Name == of
	}
	if _, pointer := m.Recv.List[0].Type.(*ast.StarExpr); !pointer {
		return false
	}
	ast.Inspect(m.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, isField)
		case *ast.IncDecStmt:
			found = found || isField(n.X)
		}
		return !found
	})
	return found
}

// declarations calls visit with each declaration of the product.
func (t tree) declarations(visit func(f *file, d ast.Decl)) {
	for i := range t {
		if t[i].kind == product {
			for _, d := range t[i].ast.Decls {
				visit(&t[i], d)
			}
		}
	}
}

// structs calls visit with each struct type of the product that has a name.
func (t tree) structs(visit func(n named, s *ast.StructType)) {
	t.declarations(func(f *file, d ast.Decl) {
		list, ok := d.(*ast.GenDecl)
		if !ok {
			return
		}
		for _, spec := range list.Specs {
			if declared, ok := spec.(*ast.TypeSpec); ok {
				if s, ok := declared.Type.(*ast.StructType); ok {
					visit(named{f.folder(), declared.Name.Name}, s)
				}
			}
		}
	})
}

// unpointed returns a type, or the type that it points to.
func unpointed(e ast.Expr) ast.Expr {
	if p, ok := e.(*ast.StarExpr); ok {
		return p.X
	}
	return e
}

// receiver returns the name of a type, or of the type that it points to; "" if that is in another package.
func receiver(e ast.Expr) string {
	switch e := unpointed(e).(type) {
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// names counts short files of the product, and base names that more than one file has.
func (t tree) names() (short, twice int) {
	count := map[string]int{}
	for _, f := range t {
		if f.kind != test && !f.isDoc() {
			count[path.Base(f.path)]++
		}
		if f.kind == product && !f.isDoc() && len(f.lines) < 40 && path.Base(f.path) != "main.go" {
			short++
		}
	}
	for _, n := range count {
		if n > 1 {
			twice++
		}
	}
	return short, twice
}

var riddle = regexp.MustCompile(`^//\s*\S+ (is|are|says|tells) (how|what|when|where|why|whether|who|which)\b`)

// riddles counts comments of the product that match riddle: their first sentence describes a name without a noun.
func (t tree) riddles() (n int) {
	for _, f := range t {
		if f.kind != product {
			continue
		}
		for _, group := range f.ast.Comments {
			if riddle.MatchString(group.List[0].Text) {
				n++
			}
		}
	}
	return n
}

// over lists the keys with a count above limit, the most frequent first.
func over(limit int, counts map[string]int) string {
	var list []string
	for _, key := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		if counts[key] > limit {
			list = append(list, fmt.Sprint(key, " ", counts[key]))
		}
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}
