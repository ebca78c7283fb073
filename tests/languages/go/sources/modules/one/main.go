package main

import (
	"example.org/one/pkg"
	"example.org/one/pkgs"
	"example.org/renamed"
	"example.org/two/v2"
	"example.org/three/v3"
)

func main() {
	pkg.F()
	// -> one/pkg/p.go#F [import]
	two.G()
	// -> two/g.go#G [import]
	renamed.G()
	// -> two/g.go#G [import]
	pkgs.F()
	// -/> one/pkg/p.go#F
}
