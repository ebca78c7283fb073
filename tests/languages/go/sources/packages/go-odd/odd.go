package odd

func Strange() {}
