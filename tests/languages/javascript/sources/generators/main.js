// Generators and coroutines: what they yield and resolve to.
class Item {
  open() {}
}
class Other {
  open() {}
}
function* items() {
  yield new Item();
}
async function load() {
  return new Item();
}

async function run(list) {
  for (const item of items()) {
    item.open();
    // -> main.js#Item.open
    // -/> main.js#Other.open
  }
  (await load()).open();
  // -> main.js#Item.open
  load().then((item) => item.open());
  // -> main.js#Item.open
  const both = await Promise.all([load(), load()]);
  both[0].open();
  // -> main.js#Item.open
  list.open();
  // -/> main.js#Item.open
}
