pub mod client;

pub fn start() {
    client::connect();
    // -> src/net/client.rs#connect [import]
    self::client::connect();
    // -> src/net/client.rs#connect [import]
}
