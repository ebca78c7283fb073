package store_test

import "testing"

func prepare() {}

func check(t *testing.T) { t.Fatal("x") }
// x> testing.T.Fatal
