//! The library.
mod net;
pub mod util;
#[path = "odd/place.rs"]
mod renamed;
pub use net::client::{Client, connect as dial};
pub use util::*;

pub mod inline {
    use super::helper;
    pub fn inner() {
        helper();
        // -> src/lib.rs#helper [lexical]
        super::net::start();
        // -> src/net/mod.rs#start [import]
        outer_only();
        // ?? not_in_imports
    }
    pub mod deep {
        pub fn dig() {
            super::inner();
            // -> src/lib.rs#inline.inner
            self::dig();
            // -> src/lib.rs#inline.deep.dig
        }
    }
}

fn helper() {
    inline::deep::dig();
    // -> src/lib.rs#inline.deep.dig
    crate::net::client::connect();
    // -> src/net/client.rs#connect [import]
    renamed::far();
    // -> src/odd/place.rs#far [import]
    dial();
    // -> src/net/client.rs#connect [import]
    trim();
    // -> src/util.rs#trim [import]
}

fn outer_only() {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::client as c;

    #[test]
    fn helps() {
        helper();
        // -> src/lib.rs#helper
        trim();
        // -> src/util.rs#trim
        c::connect();
        // -> src/net/client.rs#connect
        assert_eq!(setup(), 1);
        // -> src/lib.rs#tests.setup
    }

    fn setup() -> u32 { 1 }
}
