package store

type Store struct{ name string }

var shared = New()

func New() *Store { return &Store{} }

func Open(name string) {
	shared.Save()
	// -> store/methods.go#Store.Save [receiver_type]
	helper()
	// ?? not_in_imports
	// -/> cmd/other.go#helper
}
