macro_rules! own { ($x:expr) => { $x } }

struct S;
impl S { fn show(&self) -> u32 { 1 } }

fn value() -> u32 { 2 }
fn pattern(n: u32) -> bool { n > 1 }

fn main() {
    let s = S;
    println!("{} {}", s.show(), value());
    // -> src/lib.rs#S.show
    // -> src/lib.rs#value [lexical]
    assert!(pattern(1), "no {}", value());
    // -> src/lib.rs#pattern [lexical]
    assert_eq!(
        value(),
        // -> src/lib.rs#value
        2
    );
    let v = vec![value(); 3];
    // -> src/lib.rs#value
    if matches!(value(), 1 | 2) {}
    // -> src/lib.rs#value
    own!(value());
    // => src/lib.rs#own!
    let text = format!("{value}");
    // -/> src/lib.rs#value
    log::info!("x {}", value());
    // -> src/lib.rs#value
}
