package s

type T struct{}

func (T) A() {}
func (T) B() {}

type U struct{}

func (U) A() {}

func make2() T { return T{} }

func all(n int, ch chan T) {
	x := make2()
	// -> s.go#make2 [lexical]
	if x := (U{}); n > 1 {
		x.A()
		// -> s.go#U.A [receiver_type]
		// -/> s.go#T.A
	} else {
		x.A()
		// -> s.go#U.A [receiver_type]
	}
	x.A()
	// -> s.go#T.A [receiver_type]
	// -/> s.go#U.A
	for i := 0; i < n; i++ {
		x.B()
		// -> s.go#T.B
	}
	switch {
	case n > 2:
		x.A()
		// -> s.go#T.A [receiver_type]
	}
	select {
	case v := <-ch:
		v.B()
		// -> s.go#T.B
	case ch <- make2():
		// -> s.go#make2 [lexical]
	}
	len := func() { all(n, ch) }
	// -> s.go#all [lexical]
	len()
	const c = 1
	type local struct{ T }
	var l local
	l.B()
	// -> s.go#T.B [hierarchy]
	func() {
		x.A()
		// -> s.go#T.A
	}()
loop:
	for {
		break loop
	}
	panic(make2())
	// -> s.go#make2 [lexical]
}

func init() { all(1, nil) }
// -> s.go#all [lexical]
func init() { make2() }
// -> s.go#make2 [lexical]
