use std::collections::HashMap;

struct Item;
impl Item {
    fn act(&self) -> Item { Item }
}

struct Pair(Item, Vec<Item>);
struct Bag { items: HashMap<String, Item>, tuple: (u32, Item), make: fn() -> Item }

static GLOBAL: Item = Item;
const TABLE: [Item; 1] = [Item];
type Items = Vec<Item>;

fn both() -> (Item, u32) { (Item, 1) }

fn walk(bag: &Bag, pair: Pair, named: Items) {
    for item in &pair.1 {
        item.act();
        // -> src/lib.rs#Item.act [receiver_type]
    }
    for (key, item) in &bag.items {
        item.act();
        // -> src/lib.rs#Item.act [receiver_type]
        key.act();
        // -/> src/lib.rs#Item.act
    }
    for (i, item) in pair.1.iter().enumerate() {
        item.act();
        // -> src/lib.rs#Item.act [receiver_type]
    }
    for item in bag.items.values() {
        item.act();
        // -> src/lib.rs#Item.act [receiver_type]
    }
    pair.0.act().act();
    // -> src/lib.rs#Item.act [receiver_type]
    bag.tuple.1.act();
    // -> src/lib.rs#Item.act [receiver_type]
    if let Some(item) = bag.items.get("x") {
        item.act();
        // -> src/lib.rs#Item.act [receiver_type]
    }
    let (first, n) = both();
    first.act();
    // -> src/lib.rs#Item.act [receiver_type]
    GLOBAL.act();
    // -> src/lib.rs#Item.act
    TABLE[0].act();
    // -> src/lib.rs#Item.act
    named[0].act();
    // -> src/lib.rs#Item.act
    (bag.make)().act();
    // -> src/lib.rs#Item.act
    let Some(last) = named.last() else { return };
    last.act();
    // -> src/lib.rs#Item.act
    let list = vec![Item, Item];
    list[1].act();
    // -> src/lib.rs#Item.act
    let maybe = Some(Item);
    maybe.unwrap().act();
    // -> src/lib.rs#Item.act
    let block = { let inner = Item; inner };
    block.act();
    // -> src/lib.rs#Item.act
    while let Some(next) = named.iter().next() {
        next.act();
        // -> src/lib.rs#Item.act
    }
}
