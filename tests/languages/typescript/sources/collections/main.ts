// Row 22: computed types, and what the methods of arrays, maps and records give.
class Job {
  run(): Result {
    return new Result();
    // -> main.ts#Result
  }
}
class Result {
  ok(): void {}
}
function create() {
  return new Job();
}
async function fetchJob() {
  return new Job();
}
export function f(
  a: ReturnType<typeof create>,
  b: InstanceType<typeof Job>,
  c: Awaited<ReturnType<typeof fetchJob>>,
  d: Job["run"],
  e: Parameters<typeof take>[0],
  g: ReadonlyArray<Job>,
  h: NonNullable<Job | null>,
  i: Readonly<Required<Job>>,
  j: Services["job"],
  k: readonly Job[],
  l: [Job, Result],
  m: Iterable<Job>,
): void {
  a.run();
  // -> main.ts#Job.run
  b.run();
  // -> main.ts#Job.run
  c.run();
  // -> main.ts#Job.run
  d().ok();
  // -> main.ts#Result.ok
  e.run();
  // -> main.ts#Job.run
  g[0].run();
  // -> main.ts#Job.run
  h.run();
  // -> main.ts#Job.run
  i.run();
  // -> main.ts#Job.run
  j.run();
  // -> main.ts#Job.run
  for (const one of k) one.run();
  // -> main.ts#Job.run
  l[0].run();
  // -> main.ts#Job.run
  l[1].ok();
  // -> main.ts#Result.ok
  const [x, y] = l;
  x.run();
  // -> main.ts#Job.run
  y.ok();
  // -> main.ts#Result.ok
  for (const one of m) one.run();
  // -> main.ts#Job.run
}
interface Services {
  job: Job;
}
function take(job: Job): void {}
export function arrays(jobs: Job[], by: Map<string, Job>, set: Set<Job>): void {
  jobs.map((j) => j.run()).forEach((r) => r.ok());
  // -> main.ts#Job.run
  // -> main.ts#Result.ok
  jobs.reduce((acc, j) => acc.concat([j]), [] as Job[])[0].run();
  // -> main.ts#Job.run
  const total = jobs.reduce((acc, j) => { acc.ok(); return acc; }, new Result());
  // -> main.ts#Result.ok
  total.ok();
  // -> main.ts#Result.ok
  // -/> main.ts#Job.run
  jobs.flatMap((j) => [j.run()])[0].ok();
  // -> main.ts#Result.ok
  jobs.filter(Boolean).slice(1).at(-1)?.run();
  // -> main.ts#Job.run
  [...jobs].sort((a, b) => (a.run(), b.run(), 0));
  // -> main.ts#Job.run
  by.get("x")?.run();
  // -> main.ts#Job.run
  by.forEach((v) => v.run());
  // -> main.ts#Job.run
  for (const [, v] of by) v.run();
  // -> main.ts#Job.run
  for (const v of by.values()) v.run();
  // -> main.ts#Job.run
  Array.from(set).forEach((v) => v.run());
  // -> main.ts#Job.run
  Array.from(by.values(), (v) => v.run())[0].ok();
  // -> main.ts#Job.run
  // -> main.ts#Result.ok
  [...by.entries()].map(([k, v]) => v.run());
  // -> main.ts#Job.run
  const groups: Record<string, Job[]> = {};
  (groups["x"] ??= []).push(new Job());
  groups["x"][0].run();
  // -> main.ts#Job.run
  for (const g of Object.values(groups)) for (const j of g) j.run();
  // -> main.ts#Job.run
  jobs.entries();
  for (const [i, j] of jobs.entries()) j.run();
  // -> main.ts#Job.run
  const [one, ...rest] = jobs;
  one.run();
  // -> main.ts#Job.run
  rest[0].run();
  // -> main.ts#Job.run
  jobs.pop()!.run();
  // -> main.ts#Job.run
  new Set(jobs.map((j) => j.run())).forEach((r) => r.ok());
  // -> main.ts#Result.ok
  const weak = new WeakMap<object, Job>();
  weak.get({})?.run();
  // -> main.ts#Job.run
  const lookup = new Map(jobs.map((j) => ["k", j] as const));
  lookup.get("k")?.run();
  // -> main.ts#Job.run
  const fromEntries = Object.fromEntries(jobs.map((j) => ["k", j]));
  fromEntries.k.run();
  // -> main.ts#Job.run
}
