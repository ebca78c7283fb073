package k

type Handler func(int)

func (h Handler) Serve() { h(1) }

type ID int

func (i ID) Show() {}

func serve(int) {}

func main() {
	Handler(serve).Serve()
	// => k.go#Handler
	// => k.go#serve
	// -> k.go#Handler.Serve [receiver_type]
	// -/> k.go#Handler
	ID(3).Show()
	// -> k.go#ID.Show [receiver_type]
	x := string("a")
	x.Show()
	// -/> k.go#ID.Show
	(*ID)(nil).Show()
	// -> k.go#ID.Show [receiver_type]
}
