package store

import "testing"

func inside() {}

func TestFlush(t *testing.T) {
	New().flush()
	// -> store/methods.go#Store.flush [receiver_type]
	inside()
	// -> store/inside_test.go#inside [lexical]
}
