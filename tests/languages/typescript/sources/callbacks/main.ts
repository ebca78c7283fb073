// What is called through a parameter that nobody passes stays open; bound methods keep their object.
class Store {
  private listeners: Array<() => void> = [];
  constructor() {
    this.flush = this.flush.bind(this);
  }
  on(listener: () => void): void {
    this.listeners.push(listener);
  }
  flush(): void {
    this.listeners.forEach((listener) => listener());
    // -> main.ts#tick
    for (const listener of this.listeners) {
      listener();
      // -> main.ts#tick
    }
  }
}
function tick(): void {}
function never(callback: () => void): void {
  callback();
  // ?? dynamic
  // -/> main.ts#tick
}

export function run(store: Store): void {
  store.on(tick);
  // -> main.ts#Store.on
  // => main.ts#tick
  const { flush } = store;
  flush();
  // -> main.ts#Store.flush
  const later = store.flush;
  later();
  // -> main.ts#Store.flush
}
export const api = { never };
