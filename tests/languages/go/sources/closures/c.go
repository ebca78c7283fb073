package c

type Command struct {
	Run  func() int
	name string
}

func Wire() int  { return 1 }
func other() int { return 2 }

var Root = &Command{
	Run: func() int {
		return Wire()
		// -> c.go#Wire [lexical]
	},
}

var direct = func() int { return Wire() }
// -> c.go#Wire [lexical]

func each(f func() int) { f() }
// -> c.go#other [flow]

func main() {
	each(other)
	// -> c.go#each [lexical]
	// => c.go#other
	defer func() {
		Wire()
		// -> c.go#Wire [lexical]
	}()
	go Wire()
	// -> c.go#Wire [lexical]
	direct()
	// -> c.go#direct [lexical]
	Root.Run()
	// -> c.go#Root.Run [flow]
	local := &Command{Run: other}
	// => c.go#other
	local.Run()
	// -> c.go#other
	f := other
	if local == nil {
		f = Wire
	}
	f()
	// -> c.go#other
	// -> c.go#Wire
	f = Wire
	f()
	// -> c.go#Wire
	// -/> c.go#other
}
