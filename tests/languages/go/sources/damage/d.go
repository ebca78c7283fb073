package d

func good() { fine() }
// -> d.go#fine [lexical]

func broken( {
	fine(
}

func fine() { good() }
// -> d.go#good [lexical]

func () empty() { fine() }
// -> d.go#fine [lexical]
