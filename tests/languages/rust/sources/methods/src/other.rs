use crate::Node;

impl Node {
    pub fn far(&self) {
        self.step();
        // -> src/lib.rs#Node.step [receiver_type]
    }
}

pub fn default() -> Node {
    todo!()
}
