//go:build !race

package lint_test

import (
	"fmt"
	"go/ast"
)

func spawnRules() []rule {
	return []rule{{
		name: "what runs by itself is started by spawn", check: startedBySpawn,
		breaks: []map[string]string{
			{"a/a.go": "package a\nfunc f() { go f() }\n"},
			{"a/a.go": "package a\nimport \"sync\"\nfunc f(wg *sync.WaitGroup) { wg.Go(func() {}) }\n"},
			{"a/a.go": "package a\nimport \"sync\"\ntype t struct{ wg sync.WaitGroup }\nfunc f(x *t) { x.wg.Go(func() {}) }\n"},
			{"a/a.go": "package a\nimport \"time\"\nvar t = time.AfterFunc(1, func() {})\n"},
			{"a/a.go": "package a\nimport \"context\"\nfunc f(ctx context.Context) { context.AfterFunc(ctx, func() {}) }\n"},
		},
		keeps: map[string]string{
			"a/a.go":             "package a\nimport \"coordtop/internal/ground/spawn\"\nfunc f(ctx context.Context) { spawn.Go(ctx, nil, func() {}) }\n",
			"a/a_test.go":        "package a\nfunc f() { go f() }\n",
			"sources/xtest/a.go": "package xtest\nfunc f() { go f() }\n",
			"internal/ground/spawn/a.go": "package spawn\nimport (\n\"context\"\n\"time\"\n)\n" +
				"func f(ctx context.Context) { go f(ctx); time.AfterFunc(1, nil); context.AfterFunc(ctx, nil) }\n",
			"internal/localserver/a.go": "package localserver\nfunc f() { go f() }\n",
		},
	}}
}

// startedBySpawn keeps a panic from ending the process with a raw terminal. It does not
// look into folders for tests. The emulators are such by their names: they import nothing of
// ours, and the demo gives them a guard instead.
func startedBySpawn(files []file) []string {
	exempt := map[string]string{
		"internal/ground/spawn": "it is what starts",
		"internal/localserver":  "its proxies are for tests; what the demo has of it is started by spawn",
	}
	var wrong []string
	for _, f := range files {
		if exempt[f.dir] != "" || !f.shipped() {
			continue
		}
		say := func(n ast.Node, what string) {
			wrong = append(wrong, fmt.Sprintf("%s starts by %s what package spawn has to start: a panic there would end the process", f.at(n), what))
		}
		for _, c := range append(f.calls("time", "AfterFunc"), f.calls("context", "AfterFunc")...) {
			say(c, "AfterFunc")
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				say(n, "a go statement")
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
					if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "spawn" {
						say(n, "a method Go")
					}
				}
			}
			return true
		})
	}
	return wrong
}
