struct Stack<T> { items: Vec<T> }
struct Job;
impl Job { fn go(&self) {} }

impl<E> Stack<E> {
    fn new() -> Self { Stack { items: Vec::new() } }
    fn pop(&mut self) -> Option<E> { self.items.pop() }
    fn top(&self) -> &E { &self.items[0] }
}

fn run(mut s: Stack<Job>, t: Stack<Stack<Job>>) {
    s.pop().unwrap().go();
    // -> src/lib.rs#Stack.pop [receiver_type]
    // -> src/lib.rs#Job.go [receiver_type]
    t.top().top().go();
    // -> src/lib.rs#Job.go [receiver_type]
    s.items[0].go();
    // -> src/lib.rs#Job.go [receiver_type]
    let made: Stack<Job> = Stack::new();
    // -> src/lib.rs#Stack.new
    made.top().go();
    // -> src/lib.rs#Job.go
}
