struct Cart {
    items: Vec<u32>,
}

impl Cart {
    fn total(&self) -> u32 {
        self.items.iter().map(|item| price(*item)).sum()
    }
}

fn price(item: u32) -> u32 {
    item * 2
}

fn main() {
    let cart = Cart { items: vec![1, 2] };
    std::process::exit((cart.total() + price(3) != 12) as i32);
}
