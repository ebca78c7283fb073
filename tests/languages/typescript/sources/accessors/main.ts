// Row 17: reading or writing a property that is code is a call; a plain field is not.
class Account {
  private cents = 0;
  get balance(): number {
    return this.cents;
    // -/> main.ts#Account.balance
  }
  set balance(value: number) {
    this.cents = value;
  }
}
class Plain {
  balance = 0;
}
const box = {
  get size(): number {
    return 1;
  },
};

export function run(account: Account, plain: Plain): number {
  account.balance = 1;
  // -> main.ts#Account.balance~2 [property]
  // -/> main.ts#Account.balance
  plain.balance = 2;
  // -/> main.ts#Account.balance~2
  const read = account.balance;
  // -> main.ts#Account.balance [property]
  return read + plain.balance + box.size;
  // -> main.ts#box.size [property]
  // -/> main.ts#Account.balance
}
