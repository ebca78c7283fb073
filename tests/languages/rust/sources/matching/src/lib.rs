pub struct Leaf;
impl Leaf { fn lit(&self) {} }

pub enum Tree {
    Empty,
    One(Leaf),
    Many { left: Box<Tree>, leaf: Leaf },
}

use Tree::Empty;

impl Tree {
    fn size(&self) -> u32 {
        match self {
            Tree::One(leaf) => { leaf.lit(); 1 }
            // -> src/lib.rs#Leaf.lit [receiver_type]
            Self::Many { left, leaf: other } if left.size() > 1 => { other.lit(); left.size() }
            // -> src/lib.rs#Leaf.lit
            // -> src/lib.rs#Tree.size
            Empty | _ => 0,
        }
    }
}

fn main(t: Option<Tree>) {
    let tree = Tree::One(Leaf);
    // -/> src/lib.rs#Tree
    tree.size();
    // -> src/lib.rs#Tree.size
    Tree::Empty.size();
    // -> src/lib.rs#Tree.size
    if let Some(Tree::One(ref leaf)) = t {
        leaf.lit();
        // -> src/lib.rs#Leaf.lit
    }
    match t {
        Some(inner @ Tree::Many { .. }) => { inner.size(); }
        // -> src/lib.rs#Tree.size
        Some(x) => { x.size(); }
        // -> src/lib.rs#Tree.size
        None => {}
    }
}
