package shapes

type Shape interface {
	Area() float64
	named
}

type named interface{ Name() string }

type Square struct{}

func (Square) Area() float64 { return 1 }
func (Square) Name() string  { return "" }

type Circle struct{ r int }

func (c *Circle) Area() float64 { return 3 }
func (c *Circle) Name() string  { return "" }

type Half struct{}

func (Half) Area() float64 { return 0 }

var _ Shape = (*Circle)(nil)
