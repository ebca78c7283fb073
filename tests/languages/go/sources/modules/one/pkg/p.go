package pkg

func F() {}
