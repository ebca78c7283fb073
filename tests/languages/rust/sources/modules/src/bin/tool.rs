use web_kit::{Client, inline, dial};

fn main() {
    dial();
    // -> src/net/client.rs#connect [import]
    let c = Client;
    c.get();
    // -> src/net/client.rs#Client.get
    inline::inner();
    // -> src/lib.rs#inline.inner
    web_kit::util::trim();
    // -> src/util.rs#trim [import]
}
