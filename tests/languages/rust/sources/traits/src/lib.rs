mod shapes;

pub trait Named {
    fn name(&self) -> String;
}

pub trait Shape: Named {
    fn area(&self) -> f64;
    fn twice(&self) -> f64 {
        self.area() * 2.0
        // -> src/lib.rs#Shape.area [receiver_type]
        // ?> src/shapes.rs#Square.area
        // ?> src/shapes.rs#Circle.area
    }
    fn make() -> Self where Self: Sized;
}

fn dynamic(s: &dyn Shape, list: Vec<Box<dyn Shape>>) {
    s.area();
    // -> src/lib.rs#Shape.area [receiver_type]
    // ?> src/shapes.rs#Square.area
    s.name();
    // -> src/lib.rs#Named.name [hierarchy]
    for each in list.iter() {
        each.twice();
        // -> src/lib.rs#Shape.twice [receiver_type]
        // ?> src/shapes.rs#Circle.twice
    }
}

fn bounded<T: Shape, U>(t: T, u: &U) where U: Named {
    t.area();
    // -> src/lib.rs#Shape.area [receiver_type]
    u.name();
    // -> src/lib.rs#Named.name [receiver_type]
    T::make();
    // -> src/lib.rs#Shape.make
}

fn given(s: impl Shape) -> impl Named {
    s.area();
    // -> src/lib.rs#Shape.area [receiver_type]
    shapes::Square
}

fn exact(q: shapes::Square) {
    q.area();
    // -> src/shapes.rs#Square.area [receiver_type]
    // -/> src/lib.rs#Shape.area
    q.twice();
    // -> src/lib.rs#Shape.twice [hierarchy]
    q.to_string();
    // x> Display.to_string
    <shapes::Square as Shape>::area(&q);
    // -> src/shapes.rs#Square.area
    Shape::area(&q);
    // -> src/lib.rs#Shape.area
    given(q).name();
    // -> src/lib.rs#given [lexical]
    // -> src/lib.rs#Named.name
}

struct Wrapped;
impl From<u32> for Wrapped {
    fn from(n: u32) -> Self { Wrapped }
}
impl From<String> for Wrapped {
    fn from(text: String) -> Self { Wrapped }
}

fn convert() {
    Wrapped::from(1);
    // ?? ambiguous
    // ?> src/lib.rs#Wrapped.from
    // ?> src/lib.rs#Wrapped.from~2
    // -/> src/lib.rs#Wrapped.from~2
}
