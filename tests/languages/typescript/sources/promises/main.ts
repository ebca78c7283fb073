// Rows 22, 38: promises, generators, asynchronous iteration.
class Job {
  run(): Result {
    return new Result();
  }
}
class Result {
  ok(): void {}
}
async function load(): Promise<Job> {
  return new Job();
}
async function infer() {
  return new Job();
}
async function* stream(): AsyncGenerator<Job> {
  yield new Job();
}
async function* inferred() {
  yield new Job();
}
function* gen() {
  yield new Job();
}
class Source implements AsyncIterable<Job> {
  async *[Symbol.asyncIterator]() {
    yield new Job();
  }
}
class List {
  *[Symbol.iterator](): Iterator<Job> {
    yield new Job();
  }
}
export async function f(): Promise<void> {
  (await load()).run().ok();
  // -> main.ts#Job.run
  // -> main.ts#Result.ok
  load().then((j) => j.run()).then((r) => r.ok());
  // -> main.ts#Job.run
  // -> main.ts#Result.ok
  infer().then((j) => j.run()).finally(() => done());
  // -> main.ts#Job.run
  // -> main.ts#done
  const [a, b] = await Promise.all([load(), other()]);
  a.run();
  // -> main.ts#Job.run
  b.ok();
  // -> main.ts#Result.ok
  for await (const j of stream()) j.run();
  // -> main.ts#Job.run
  for await (const j of inferred()) j.run();
  // -> main.ts#Job.run
  for (const j of gen()) j.run();
  // -> main.ts#Job.run
  for await (const j of new Source()) j.run();
  // -> main.ts#Job.run
  // -> main.ts#Source.[Symbol.asyncIterator]
  for (const j of new List()) j.run();
  // -> main.ts#Job.run
  // -> main.ts#List.[Symbol.iterator]
  const all = await Promise.all([1, 2].map(async () => new Job()));
  all[0].run();
  // -> main.ts#Job.run
  const made = await new Promise<Job>((resolve) => resolve(new Job()));
  made.run();
  // -> main.ts#Job.run
  const race = await Promise.race([load(), infer()]);
  race.run();
  // -> main.ts#Job.run
  const it = gen();
  it.next().value?.run();
  // -> main.ts#Job.run
  const settled = await Promise.allSettled([load()]);
  await load().catch(() => new Job());
  setTimeout(() => done(), 1);
  // -> main.ts#done
  setTimeout(done, 1);
  // => main.ts#done
  queueMicrotask(done);
  // => main.ts#done
}
async function other(): Promise<Result> {
  return new Result();
}
function done(): void {}
