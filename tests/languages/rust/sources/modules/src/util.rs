pub fn trim() {}
