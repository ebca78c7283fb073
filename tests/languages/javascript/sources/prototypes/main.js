// Rows 30 to 33: functions as classes, bound functions, what `this` is, mixins.
function Queue(name) {
  this.name = name;
}
Queue.prototype.push = function (item) {
  return this.size();
  // -> main.js#Queue.size
};
Queue.prototype.size = function () {
  return 0;
};
Queue.create = function () {
  return new Queue("a");
  // -> main.js#Queue
};

function detached() {
  return this.size();
  // -> main.js#Queue.size
}

class Timer {
  start() {
    const tick = () => this.stop();
    // -> main.js#Timer.stop
    tick();
    // -> main.js#Timer.start.tick
    setTimeout(function () {
      this.stop();
      // -/> main.js#Timer.stop
    });
  }
  stop() {}
}

const named = {
  go() {
    return this.stay();
    // -> main.js#named.stay
  },
  stay() {},
};

function run() {
  const queue = new Queue("b");
  // -> main.js#Queue
  queue.push(1);
  // -> main.js#Queue.push
  Queue.create();
  // -> main.js#Queue.create
  named.go();
  // -> main.js#named.go
  const bound = detached.bind(queue);
  bound();
  // -> main.js#detached
  detached.call(queue);
  // -> main.js#detached
  new Timer().start();
  // -> main.js#Timer
  // -> main.js#Timer.start
}

const Walks = (Base) =>
  class extends Base {
    walk() {}
  };
class Animal {}
class Dog extends Walks(Animal) {}
function mixed() {
  new Dog();
  // -> main.js#Dog
}
run(mixed);
