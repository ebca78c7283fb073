// Types, and an interface that leaves nothing behind.
interface Item {
  price: number;
}

export class Cart {
  items: Item[] = [];

  add(item: Item): this {
    this.items.push(item);
    return this;
  }

  total(): number {
    return this.items.reduce((sum, item) => sum + price(item), 0);
  }
}

export const price = (item: Item): number => item.price;

export function main(): number {
  return new Cart().add({ price: 2 }).add({ price: 3 }).total();
}

main();
