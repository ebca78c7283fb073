export class Db {
  constructor() {}
  query(text: string): number {
    return text.length;
  }
}
export class FakeDb extends Db {
  query(text: string): number {
    return 0;
  }
}
export class Base {
  constructor() {}
  shared(): void {
    this.describe();
    // -> db.ts#Base.describe
    // ?> main.ts#Users.describe
  }
  describe(): string {
    return "";
  }
}
