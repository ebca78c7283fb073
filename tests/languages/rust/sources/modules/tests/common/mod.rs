pub fn prepare() {}
