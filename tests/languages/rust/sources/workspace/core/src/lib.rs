pub fn start() {}
pub struct Engine;
impl Engine { pub fn run(&self) {} }
pub mod prelude { pub use crate::{start, Engine}; }
