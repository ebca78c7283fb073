package main

type box struct{ side int }

func (b *box) area() int { return helper(b.side) }

//go:noinline
func helper(x int) int { return x * x }

//go:noinline
func use(f func(int) int) int { return f(2) }

func main() {
	b := &box{3}
	total := b.area()
	done := make(chan int)
	go func() { done <- helper(4) }()
	total += <-done + use(helper)
	if total == 0 {
		panic("no")
	}
}
