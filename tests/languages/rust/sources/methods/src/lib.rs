use std::rc::Rc;
use std::sync::{Arc, Mutex};

mod other;

#[derive(Clone, Debug)]
pub struct Node {
    next: Option<Box<Node>>,
    list: Vec<Node>,
    shared: Arc<Mutex<Node>>,
    plain: Rc<Node>,
}

impl Node {
    pub fn new(list: Vec<Node>) -> Self {
        Self::build(list)
        // -> src/lib.rs#Node.build
    }

    fn build(list: Vec<Node>) -> Node {
        let made = Node { next: None, list, ..other::default() };
        // -> src/other.rs#default [import]
        // => src/lib.rs#Node
        made
    }

    fn run(&mut self) {
        self.step();
        // -> src/lib.rs#Node.step [receiver_type]
        self.far();
        // -> src/other.rs#Node.far [receiver_type]
        self.next.as_ref().unwrap().step();
        // -> src/lib.rs#Node.step
        self.shared.lock().unwrap().far();
        // -> src/other.rs#Node.far
        self.plain.far();
        // -> src/other.rs#Node.far
        self.list[0].far();
        // -> src/other.rs#Node.far
        self.clone().far();
        // -> src/other.rs#Node.far
        self.clone();
        // x> Clone.clone
        self.nothing();
        // ?? dynamic
        let copy = Arc::clone(&self.shared);
        copy.lock().unwrap().step();
        // -> src/lib.rs#Node.step
    }

    fn step(&self) {}
}

fn make() -> Result<Node, String> {
    let n = Node::new(vec![]);
    // -> src/lib.rs#Node.new
    Ok(n)
}

fn main() -> Result<(), String> {
    make()?.step();
    // -> src/lib.rs#make [lexical]
    // -> src/lib.rs#Node.step
    let x = make().unwrap();
    x.far();
    // -> src/other.rs#Node.far
    let y: Node = "a".parse().unwrap();
    y.step();
    // -> src/lib.rs#Node.step
    Node::step(&y);
    // -> src/lib.rs#Node.step
    let s = String::new();
    s.step();
    // -/> src/lib.rs#Node.step
    let mut z = make()?;
    if true {
        z = Node::new(vec![]);
    }
    z.run();
    // -> src/lib.rs#Node.run
    let boxed = Box::new(x);
    boxed.far();
    // -> src/other.rs#Node.far
    Ok(())
}
