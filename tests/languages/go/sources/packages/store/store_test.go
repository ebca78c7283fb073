package store_test

import (
	"testing"

	"example.org/shop/store"
)

func TestOpen(t *testing.T) {
	store.Open("x")
	// -> store/store.go#Open [import]
	prepare()
	// -> store/more_test.go#prepare [lexical]
	t.Run("inner", func(t *testing.T) {
		store.New().Save()
		// -> store/store.go#New [import]
		// -> store/methods.go#Store.Save [receiver_type]
	})
	t.Run("named", check)
	// -> store/more_test.go#check [flow]
	inside()
	// ?? not_in_imports
}
