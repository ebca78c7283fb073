package e

import (
	"net/http"
	"sync"

	yaml "gopkg.in/yaml.v3"
)

type Server struct {
	sync.Mutex
	http *http.Server
	Own
}

type Own struct{}

func (Own) Lock2() {}
func (Own) Get()   {}

func (s *Server) Get() {
	s.Lock()
	// x> sync.Mutex.Lock
	s.Lock2()
	// -> e.go#Own.Lock2 [hierarchy]
	s.http.Close()
	// x> net/http.Server.Close
	yaml.Marshal(s)
	// x> gopkg.in/yaml.v3.Marshal
	r, _ := http.Get("x")
	// x> net/http.Get
	r.Get()
	// -/> e.go#Server.Get
}
