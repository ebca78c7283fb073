pub fn far() {}
