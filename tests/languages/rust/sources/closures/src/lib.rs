struct Job { run: Box<dyn Fn() -> Job> }
impl Job { fn go(&self) -> Job { (self.run)() } }

fn make() -> Job { Job { run: Box::new(|| make()) } }
// -> src/lib.rs#make [lexical]

fn apply(f: impl Fn(Job) -> Job, job: Job) -> Job { f(job) }
// -> src/lib.rs#named [flow]

fn named(job: Job) -> Job { job }

fn main(jobs: Vec<Job>) {
    jobs.iter().map(|job| job.go()).for_each(|made| { made.go(); });
    // -> src/lib.rs#Job.go [receiver_type]
    let found = jobs.iter().find(|job| helper(job)).unwrap();
    // -> src/lib.rs#helper [lexical]
    found.go();
    // -> src/lib.rs#Job.go
    apply(named, make());
    // -> src/lib.rs#apply [lexical]
    // => src/lib.rs#named
    let later = move || helper(&make());
    // -> src/lib.rs#helper
    later();
    jobs.iter().map(helper);
    // -> src/lib.rs#helper
    let chosen = if jobs.is_empty() { named } else { other };
    chosen(make());
    // -> src/lib.rs#named
    // -> src/lib.rs#other
    fn local() -> Job { make() }
    // -> src/lib.rs#make
    local().go();
    // -> src/lib.rs#main.local
    // -> src/lib.rs#Job.go
}

fn helper(job: &Job) -> bool { true }
fn other(job: Job) -> Job { job }
