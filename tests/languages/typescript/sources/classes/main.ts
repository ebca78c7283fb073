// Rows 11 to 16: construction, inheritance, super, fields, statics, private names, parameter properties.
import { Db, FakeDb, Base } from "./db";

class Users extends Base {
  #cache = new FakeDb();
  private log: Db;
  handle = (): number => this.count();
  // -> main.ts#Users.count [receiver_type]

  constructor(
    private db: Db,
    readonly name = "users",
  ) {
    super();
    // -> db.ts#Base.constructor
    this.log = db;
  }

  count(): number {
    this.#reset();
    // -> main.ts#Users.#reset
    this.shared();
    // -> db.ts#Base.shared [hierarchy]
    return this.db.query("");
    // -> db.ts#Db.query [receiver_type]
    // -/> db.ts#FakeDb.query
  }

  written(): number {
    return this.log.query("");
    // -> db.ts#Db.query [receiver_type]
    // -/> db.ts#FakeDb.query
  }

  fake(): number {
    return this.#cache.query("");
    // -> db.ts#FakeDb.query [receiver_type]
  }

  #reset(): void {}

  override describe(): string {
    return super.describe();
    // -> db.ts#Base.describe [hierarchy]
    // -/> main.ts#Users.describe
  }

  static open(): Users {
    return new Users(new Db());
    // -> main.ts#Users
    // -> main.ts#Users.constructor
  }

  static again(): Users {
    return this.open();
    // -> main.ts#Users.open
  }
}

export function run(): void {
  const users = Users.open();
  // -> main.ts#Users.open
  users.count();
  // -> main.ts#Users.count [receiver_type]
  users.shared();
  // -> db.ts#Base.shared [hierarchy]
  users.handle();
  // -> main.ts#Users.handle
  const made = new Users(new Db());
  // -> main.ts#Users
  made.describe();
  // -> main.ts#Users.describe [receiver_type]
  // -/> db.ts#Base.describe
  const fake = new FakeDb();
  // -> db.ts#FakeDb
  // -> db.ts#Db.constructor
  fake.query("");
  // -> db.ts#FakeDb.query [receiver_type]
  // -/> db.ts#Db.query
}
