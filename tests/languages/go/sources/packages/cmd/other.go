package main

func helper() { main() }
// -> cmd/main.go#main [lexical]
