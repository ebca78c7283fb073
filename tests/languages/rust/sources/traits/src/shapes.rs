use crate::{Named, Shape};

pub struct Square;
pub struct Circle;

impl Named for Square {
    fn name(&self) -> String { String::new() }
}
impl Shape for Square {
    fn area(&self) -> f64 { 1.0 }
    fn make() -> Self { Square }
}
impl Named for Circle {
    fn name(&self) -> String { String::new() }
}
impl Shape for Circle {
    fn area(&self) -> f64 { 3.0 }
    fn twice(&self) -> f64 {
        self.area()
        // -> src/shapes.rs#Circle.area [receiver_type]
    }
    fn make() -> Self { Circle }
}
impl std::fmt::Display for Square {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, "{}", self.name()) }
    // -> src/shapes.rs#Square.name [receiver_type]
}
