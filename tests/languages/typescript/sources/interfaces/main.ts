// Rows 18, 19: a call through an interface goes to the declaration; who implements it is a candidate.
interface Store {
  save(text: string): void;
}
interface NamedStore extends Store {
  title(): string;
}
class Disk implements NamedStore {
  save(text: string): void {}
  title(): string {
    return "";
  }
}
class Lookalike {
  save(text: string): void {}
}
abstract class Repo<T> {
  abstract find(): T;
  first(): T {
    return this.find();
    // -> main.ts#Repo.find
    // ?> main.ts#DiskRepo.find
  }
}
class DiskRepo extends Repo<Disk> {
  find(): Disk {
    return new Disk();
    // -> main.ts#Disk
  }
}

export function run(store: Store, named: NamedStore, repo: Repo<Disk>, disks: DiskRepo): void {
  store.save("");
  // -> main.ts#Store.save [receiver_type]
  // ?> main.ts#Disk.save
  // -/> main.ts#Lookalike.save
  named.title();
  // -> main.ts#NamedStore.title
  repo.first();
  // -> main.ts#Repo.first
  disks.find().save("");
  // -> main.ts#DiskRepo.find
  // -> main.ts#Disk.save
}
export function inherited(named: NamedStore): void {
  named.save("");
  // -> main.ts#Store.save [hierarchy]
}
