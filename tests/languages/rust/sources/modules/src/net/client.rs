use super::start;
use crate::util::{self, trim as cut};
use serde::Deserialize;
use std::collections::HashMap;

pub struct Client;

impl Client {
    pub fn get(&self) {}
}

pub fn connect() {
    start();
    // -> src/net/mod.rs#start [import]
    util::trim();
    // -> src/util.rs#trim [import]
    cut();
    // -> src/util.rs#trim [import]
    super::super::outer_only();
    // -> src/lib.rs#outer_only [import]
    std::mem::drop(1);
    // x> std.mem.drop
    serde::helper();
    // x> serde.helper
    HashMap::<u32, u32>::with_capacity(1);
    // x> HashMap.with_capacity
}
