package v

import "errors"

type Item struct{ next *Item }

func (i *Item) Do() error { return nil }

type Box struct {
	items []*Item
	byKey map[string]Item
	ch    chan *Item
	fn    func() *Item
}

type Items []Item

func pair() (*Item, error) { return &Item{}, nil }
func named() (i *Item, err error) {
	i = &Item{}
	return
}

func (b Box) All() {
	for _, i := range b.items {
		i.Do()
		// -> v.go#Item.Do [receiver_type]
	}
	for k, i := range b.byKey {
		i.Do()
		// -> v.go#Item.Do [receiver_type]
		k.Do()
		// -/> v.go#Item.Do
	}
	for i := range b.ch {
		i.Do()
		// -> v.go#Item.Do [receiver_type]
	}
	b.items[0].Do()
	// -> v.go#Item.Do [receiver_type]
	if i, ok := b.byKey["x"]; ok {
		i.next.Do()
		// -> v.go#Item.Do [receiver_type]
	}
	(<-b.ch).Do()
	// -> v.go#Item.Do [receiver_type]
	b.fn().Do()
	// -> v.go#Item.Do [receiver_type]
	b.items[1:][0].Do()
	// -> v.go#Item.Do [receiver_type]
}

func more() {
	i, err := pair()
	i.Do()
	// -> v.go#Item.Do [receiver_type]
	err.Error()
	// x> error.Error
	j, err := named()
	j.Do()
	// -> v.go#Item.Do [receiver_type]
	list := []*Item{{}, {}}
	list = append(list, i)
	list[0].Do()
	// -> v.go#Item.Do [receiver_type]
	m := map[string]*Item{"a": {}}
	m["a"].Do()
	// -> v.go#Item.Do [receiver_type]
	var all Items
	for _, one := range all {
		one.Do()
		// -> v.go#Item.Do [receiver_type]
	}
	made := make(map[int][]Item)
	made[1][2].Do()
	// -> v.go#Item.Do [receiver_type]
	e := errors.New("x")
	e.Do()
	// -/> v.go#Item.Do
	var x interface{ Do() error } = i
	x.Do()
	table := map[string]func(){"a": more}
	// => v.go#more
	table["a"]()
	// -> v.go#more [flow]
}
