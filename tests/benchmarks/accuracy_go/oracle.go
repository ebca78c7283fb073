// Prints what the type checker of Go says of every call of a module: one JSON line a call whose callee is declared in the module.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

type answer struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Target string `json:"target"`
}

func main() {
	root, err := filepath.Abs(os.Args[1])
	if err != nil {
		panic(err)
	}
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: root, Tests: true}, "./...")
	if err != nil {
		panic(err)
	}
	out := json.NewEncoder(os.Stdout)
	seen := map[string]bool{}
	for _, pkg := range loaded {
		for _, problem := range pkg.Errors {
			fmt.Fprintln(os.Stderr, problem)
		}
		for _, file := range pkg.Syntax {
			ast.Inspect(file, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok {
					return true
				}
				function, ok := typeutil.Callee(pkg.TypesInfo, call).(*types.Func)
				if !ok {
					return true
				}
				function = function.Origin()
				at := pkg.Fset.Position(nameOf(call.Fun).Pos())
				declared := pkg.Fset.Position(function.Pos())
				from, inside := within(root, at.Filename)
				to, known := within(root, declared.Filename)
				name := qualified(function)
				if !inside || !known || name == "" {
					return true
				}
				found := answer{from, at.Line, to + "#" + name}
				key := fmt.Sprint(found)
				if !seen[key] {
					seen[key] = true
					_ = out.Encode(found)
				}
				return true
			})
		}
	}
}

func nameOf(expression ast.Expr) ast.Expr {
	switch e := expression.(type) {
	case *ast.ParenExpr:
		return nameOf(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return nameOf(e.X)
	case *ast.IndexListExpr:
		return nameOf(e.X)
	}
	return expression
}

func within(root, path string) (string, bool) {
	inner, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(inner, "..") {
		return "", false
	}
	return filepath.ToSlash(inner), true
}

func qualified(function *types.Func) string {
	receiver := function.Type().(*types.Signature).Recv()
	if receiver == nil {
		return function.Name()
	}
	kind := receiver.Type()
	if pointer, ok := kind.(*types.Pointer); ok {
		kind = pointer.Elem()
	}
	named, ok := types.Unalias(kind).(*types.Named)
	if !ok {
		return "" // a method of an interface without a name
	}
	return named.Obj().Name() + "." + function.Name()
}
