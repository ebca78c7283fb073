mod common;

#[test]
fn works() {
    common::prepare();
    // -> tests/common/mod.rs#prepare [import]
    web_kit::dial();
    // -> src/net/client.rs#connect [import]
}
