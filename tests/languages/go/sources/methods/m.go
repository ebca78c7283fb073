package m

type Base struct{}

func (b *Base) Hook()  { b.own() }
// -> m.go#Base.own [receiver_type]
func (b *Base) own()   {}
func (b *Base) Other() {}

type Log struct{ Base }

func (l Log) own() {}

type Outer struct {
	*Log
	name  string
	inner Base
	next  *Outer
}

func (o *Outer) Run() {
	o.Hook()
	// -> m.go#Base.Hook [hierarchy]
	o.Log.own()
	// -> m.go#Log.own [receiver_type]
	o.Base.Other()
	// -> m.go#Base.Other [receiver_type]
	o.inner.own()
	// -> m.go#Base.own [receiver_type]
	o.next.next.Run()
	// -> m.go#Outer.Run [receiver_type]
	o.name.Run()
	// -/> m.go#Outer.Run
	o.nothing()
	// ?? dynamic
}

func use() {
	f := (*Base).Hook
	f(&Base{})
	// -> m.go#Base.Hook
	var o Outer
	g := o.Run
	// => m.go#Outer.Run
	g()
	// -> m.go#Outer.Run
	new(Log).own()
	// -> m.go#Log.own [receiver_type]
	(&Outer{}).inner.Other()
	// -> m.go#Base.Other [receiver_type]
}
