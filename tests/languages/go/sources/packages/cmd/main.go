package main

import (
	"fmt"
	st "example.org/shop/store"
	. "example.org/shop/internal/deep"
	"example.org/shop/go-odd"
	_ "example.org/shop/unknown"
)

func main() {
	st.Open("x")
	// -> store/store.go#Open [import]
	s := st.New()
	// -> store/store.go#New [import]
	s.Save()
	// -> store/methods.go#Store.Save [receiver_type]
	Dig()
	// -> internal/deep/deep.go#Dig [import]
	odd.Strange()
	// -> go-odd/odd.go#Strange [import]
	st.Missing()
	// ?? not_in_imports
	fmt.Println(s)
	// x> fmt.Println
	helper()
	// -> cmd/other.go#helper [lexical]
	st.Platform()
	// -> store/open_linux.go#Platform [import]
	// -> store/open_windows.go#Platform [import]
}
