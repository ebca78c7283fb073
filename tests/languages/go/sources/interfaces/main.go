package main

import "example.org/draw/shapes"

type Printer interface{ Print(s shapes.Shape, n int) }

type wide struct{}

func (wide) Print(s shapes.Shape) {}

type plain struct{}

func (plain) Print(s shapes.Shape, n int) {
	s.Area()
	// -> shapes/shapes.go#Shape.Area [receiver_type]
	// ?> shapes/shapes.go#Square.Area
	// ?> shapes/shapes.go#Circle.Area
	// -/> shapes/shapes.go#Half.Area
	s.Name()
	// -> shapes/shapes.go#named.Name [hierarchy]
}

func show(p Printer) {
	p.Print(nil, 1)
	// -> main.go#Printer.Print [receiver_type]
	// ?> main.go#plain.Print
}

func assert(x any) {
	if s, ok := x.(shapes.Square); ok {
		s.Area()
		// -> shapes/shapes.go#Square.Area [receiver_type]
	}
	switch v := x.(type) {
	case *shapes.Circle:
		v.Area()
		// -> shapes/shapes.go#Circle.Area [receiver_type]
	case shapes.Shape:
		v.Area()
		// -> shapes/shapes.go#Shape.Area [receiver_type]
	default:
		v.Area()
		// ?? dynamic
	}
	x.(interface{ Area() float64 }).Area()
	// -/> shapes/shapes.go#Square.Area
}
