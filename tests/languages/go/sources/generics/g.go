package g

type Doer interface{ Do() }
type Job struct{}

func (Job) Do()   {}
func (Job) Extra() {}

type Stack[T any] struct{ items []T }

func (s *Stack[E]) Push(e E)  { s.grow() }
// -> g.go#Stack.grow [receiver_type]
func (s *Stack[E]) Pop() E    { return s.items[0] }
func (s *Stack[_]) grow()     {}

func Run[D Doer](d D) D {
	d.Do()
	// -> g.go#Doer.Do [receiver_type]
	// ?> g.go#Job.Do
	return d
}

func Make[T any]() *Stack[T] { return &Stack[T]{} }

func main() {
	s := &Stack[Job]{}
	s.Pop().Extra()
	// -> g.go#Stack.Pop [receiver_type]
	// -> g.go#Job.Extra [receiver_type]
	Run(Job{}).Extra()
	// -> g.go#Run [lexical]
	// -> g.go#Job.Extra [receiver_type]
	Run[Job](Job{})
	// -> g.go#Run [lexical]
	Make[Job]().Push(Job{})
	// -> g.go#Make [lexical]
	// -> g.go#Stack.Push [receiver_type]
	var t Stack[Stack[Job]]
	t.Pop().Pop().Do()
	// -> g.go#Job.Do [receiver_type]
}
