package store

func (s *Store) Save() { s.flush() }
// -> store/methods.go#Store.flush [receiver_type]
func (Store) flush()    {}
