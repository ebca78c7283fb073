/** Growing pauses with a random part, in milliseconds: 100, 200, 400, … at most `most`. */
export function* waits(count: number, most = 5_000): Generator<number, undefined, undefined> {
  for (let number = 0; number < count; number += 1)
    yield Math.min(100 * 2 ** Math.min(number, 16), most) * (1 + Math.random() / 10);
  return undefined;
}

/** Wait, or until a signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      done();
    };
    const timer = setTimeout(finish, ms);
    if (signal?.aborted) finish();
    else signal?.addEventListener("abort", finish);
  });
}
