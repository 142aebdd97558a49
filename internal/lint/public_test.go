//go:build !race

package lint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// public lists the packages that a program outside the module may import.
var public = []string{
	"coordtop/coord", "coordtop/coord/rediscoord", "coordtop/coord/pgcoord", "coordtop/coord/dflockcoord", "coordtop/coord/ydbcoord",
	"coordtop/coord/dflockwire", "coordtop/coord/certs", "coordtop/coord/coordtest",
}

// libraries returns the types of the public packages, from the export data of the compiler.
var libraries = sync.OnceValues(func() (map[string]*types.Package, error) {
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, public...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages: %w", err)
	}
	exports := map[string]string{}
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	all := map[string]*types.Package{}
	for _, path := range public {
		if all[path], err = from.Import(path); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// mentions collects, by path in the source, the types of internal packages that exported names of a package lead to.
type mentions struct {
	found map[string]bool
	seen  map[*types.TypeName]bool // unexported types that exported names lead to
}

func (m *mentions) name(where string, n *types.TypeName) {
	if n.Pkg() != nil && strings.Contains(n.Pkg().Path()+"/", "/internal/") {
		m.found[where+" mentions "+n.Pkg().Path()+"."+n.Name()] = true
	}
}

func (m *mentions) tuple(where string, all *types.Tuple) {
	for v := range all.Variables() {
		m.walk(where, v.Type())
	}
}

// walk visits what a program outside the module can reach from t: it goes into the types of our public packages, and
// only looks at the names of others.
func (m *mentions) walk(where string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		m.name(where, t.Obj())
		m.walk(where, t.Rhs())
	case *types.Named:
		m.name(where, t.Obj())
		for arg := range t.TypeArgs().Types() {
			m.walk(where, arg)
		}
		if o := t.Obj(); !o.Exported() && o.Pkg() != nil && slices.Contains(public, o.Pkg().Path()) && !m.seen[o] {
			m.seen[o] = true
			m.object(o)
		}
	case *types.TypeParam:
		m.walk(where, t.Constraint())
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			m.walk(where, p)
		}
		m.tuple(where, t.Params())
		m.tuple(where, t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() && !m.hidden(f.Type()) {
				m.walk(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for e := range t.EmbeddedTypes() {
			m.walk(where, e)
		}
		for f := range t.ExplicitMethods() {
			m.walk(where+"."+f.Name(), f.Type())
		}
	case *types.Union:
		for term := range t.Terms() {
			m.walk(where, term.Type())
		}
	case *types.Map:
		m.walk(where, t.Key())
		m.walk(where, t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		m.walk(where, t.Elem())
	}
}

// hidden reports whether an embedded field of this type has no exported name. Its methods are found by their own.
func (m *mentions) hidden(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && !n.Obj().Exported()
}

// object visits an exported name of a package: for a type also its fields and all its methods, promoted ones included.
func (m *mentions) object(o types.Object) {
	where := o.Pkg().Name() + "." + o.Name()
	m.walk(where, o.Type())
	t, ok := o.(*types.TypeName)
	if !ok || t.IsAlias() {
		return
	}
	m.walk(where, t.Type().Underlying())
	if n, ok := t.Type().(*types.Named); ok {
		for p := range n.TypeParams().TypeParams() {
			m.walk(where, p)
		}
	}
	for method := range types.NewMethodSet(types.NewPointer(t.Type())).Methods() {
		if method.Obj().Exported() {
			m.walk(where+"."+method.Obj().Name(), method.Type())
		}
	}
}

// internalNames returns a sentence for each type of an internal package that an exported name of p mentions.
func internalNames(p *types.Package) []string {
	m := &mentions{found: map[string]bool{}, seen: map[*types.TypeName]bool{}}
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() {
			m.object(o)
		}
	}
	return slices.Sorted(maps.Keys(m.found))
}

func TestNoPublicNameMentionsAnInternalType(t *testing.T) {
	t.Parallel()
	all, err := libraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range public {
		for _, wrong := range internalNames(all[path]) {
			t.Error(wrong)
		}
	}
}

func TestEachWayToMentionAnInternalTypeIsFound(t *testing.T) {
	t.Parallel()
	const source = `package p
import hidden "coordtop/internal/hidden"
type Alias = hidden.T
type Fields struct { F map[string][]*hidden.T; kept hidden.T }
type Embeds struct { hidden.T }
type Promotes struct { *base }
type base struct{}
func (*base) Result() chan hidden.T { return nil }
func (Fields) method() hidden.T { panic(0) }
type Method interface { M(func(...hidden.T)) }
type Generic[C interface{ hidden.T | int }] struct{}
type Argument struct { G Box[hidden.T] }
type Box[C any] struct{}
var Variable hidden.T
func Through() inner { return inner{} }
type inner struct { F hidden.T }
func kept(hidden.T) {}
type Kept struct { f hidden.T; base }
`
	hidden := types.NewPackage("coordtop/internal/hidden", "hidden")
	named := types.NewTypeName(token.NoPos, hidden, "T", nil)
	types.NewNamed(named, types.NewStruct(nil, nil), nil)
	hidden.Scope().Insert(named)
	hidden.MarkComplete()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: only{hidden}, Error: func(error) {}}).Check(public[0], fset, []*ast.File{parsed}, nil)
	if p == nil {
		t.Fatal(err)
	}
	var got []string
	for _, sentence := range internalNames(p) {
		where, _, _ := strings.Cut(sentence, " ")
		got = append(got, where)
	}
	want := []string{"p.Alias", "p.Argument.G", "p.Embeds.T", "p.Fields.F", "p.Generic", "p.Kept.Result", "p.Method.M", "p.Promotes.Result", "p.Variable", "p.inner.F"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// only imports one package.
type only struct{ p *types.Package }

func (o only) Import(string) (*types.Package, error) { return o.p, nil }
