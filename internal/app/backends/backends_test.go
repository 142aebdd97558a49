package backends

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coordtop/internal/config"
)

func TestEveryEntryIsWhole(t *testing.T) {
	t.Parallel()
	var types, schemes []string
	for _, b := range All() {
		types = append(types, b.Type)
		for _, s := range b.Schemes {
			schemes = append(schemes, s.Name)
			if s.Port == "" {
				t.Errorf("%s:// has no usual port", s.Name)
			}
		}
		whole := b.Source != nil && b.Driver != nil && b.Row != nil && b.Parameter != nil && b.Check != nil && b.Docs != config.Docs{}
		if b.Type == "" || b.Title == "" || len(b.Schemes) == 0 || !whole {
			t.Errorf("%s (%s) is not whole", b.Type, b.Title)
		}
		if _, urls := Help(); !strings.Contains(urls, b.Title) {
			t.Errorf("the help says of %s: %s", b.Title, urls)
		}
	}
	for _, list := range [][]string{types, schemes} {
		if slices.Sort(list); len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("one stands twice: %q", list)
		}
	}
}

// An entry stays small enough to be read at once.
func TestAnEntryHasTwelveValuesAtMost(t *testing.T) {
	t.Parallel()
	entry, url := reflect.TypeFor[Backend](), reflect.TypeFor[config.Backend]()
	if n := entry.NumField() - 1 + url.NumField(); n > 12 {
		t.Errorf("it has %d", n)
	}
}

// What differs between backends is in their entries: nobody above asks which one it is.
func TestNobodyElseAsksWhichBackendItIs(t *testing.T) {
	t.Parallel()
	var words []string
	for _, b := range All() {
		words = append(words, b.Type)
		for _, scheme := range b.Schemes {
			words = append(words, scheme.Name)
		}
	}
	for _, pattern := range []string{"../*.go", "../../config/*.go", "../../headless/*.go", "../../operate/*.go", "../../../ui/*.go", "../../../ui/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/uitest/") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					text, _ := strconv.Unquote(l.Value)
					if word, _, _ := strings.Cut(text, "://"); slices.Contains(words, word) {
						t.Errorf("%s has the text %s", name, l.Value)
					}
				}
				return true
			})
		}
	}
}
