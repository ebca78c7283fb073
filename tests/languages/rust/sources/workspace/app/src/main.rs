use my_core::prelude::*;

fn main() {
    start();
    // -> core/src/lib.rs#start
    engine::start();
    // -> core/src/lib.rs#start [import]
    let e: Engine = todo!();
    e.run();
    // -> core/src/lib.rs#Engine.run [receiver_type]
}
