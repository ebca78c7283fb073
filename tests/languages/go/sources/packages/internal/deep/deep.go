package deep

func Dig() { dig() }
// -> internal/deep/deep.go#dig [lexical]
func dig() {}
