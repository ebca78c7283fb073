package store

func Platform() {}
