package two

func G() {}
