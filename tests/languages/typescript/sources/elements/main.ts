// Row 22: arrays, maps, sets, promises and records hand out what they hold.
class Job {
  run(): void {}
  static async load(): Promise<Job> {
    return new Job();
  }
}
class Other {
  run(): void {}
}

export async function run(list: Job[], map: Map<string, Job>, record: Record<string, Job>, set: ReadonlySet<Job>): Promise<void> {
  list[0].run();
  // -> main.ts#Job.run
  for (const job of list) {
    job.run();
    // -> main.ts#Job.run
    // -/> main.ts#Other.run
  }
  map.get("a")?.run();
  // -> main.ts#Job.run
  record["a"].run();
  // -> main.ts#Job.run
  for (const job of set) {
    job.run();
    // -> main.ts#Job.run
  }
  const loaded = await Job.load();
  // -> main.ts#Job.load
  loaded.run();
  // -> main.ts#Job.run
  (await Job.load()).run();
  // -> main.ts#Job.run
  list.forEach((job) => job.run());
  // -> main.ts#Job.run
  const made: Job[] = [];
  made.push(new Job());
  made[0].run();
  // -> main.ts#Job.run
}
