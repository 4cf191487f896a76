// Random lists of operations, for running two implementations against each other.
//
// Options are small and types few, so that limits are met all the time. What conformance/README.md leaves
// open is not generated: two invalid keys in one `set`, `retain` changed from `first` to `each`, an age changed
// while events are retained, a handler that registers another one for its own type under `each`, estimates
// read by the policy while they were not kept all along.

import { randomNumbers } from '../../../base/test/random.js';

const TYPES = ['network', 'chat', 'signal', 'work', 'stream'];

/**
 * A valid list of statements, `config` first, in the reader's shapes; the same for the same seed.
 *
 * One seed in four relies on the engine's own estimates, at times with three decimals, where no two computed
 * times meet; the others give signals and use whole milliseconds, where they meet all the time.
 *
 * @param {number} seed an integer
 * @param {number} length how many statements there should be, about
 */
export function randomOperations(seed, length) {
  return new Generator(seed, length).run();
}

class Generator {
  constructor(seed, length) {
    this.random = randomNumbers(seed);
    this.length = length;
    this.statements = [];
    this.clock = 0;
    this.ids = []; // of events, in the order of their names
    this.typeOf = new Map();
    this.estimates = this.chance(25);
    this.tunes = !this.estimates && this.chance(40); // the comparison: max_delay stays above 0 then
    this.compares = this.tunes && this.chance(50); // by its windows, and not by signals
    this.bursts = this.compares || this.chance(30); // of events whose handlers take long
    if (this.bursts) this.length *= 4;
    this.retain = new Map(TYPES.map((type) => [type, this.pick(['first', 'each'])]));
  }

  chance(percent) {
    return this.random(100) < percent;
  }

  pick(list) {
    return list[this.random(list.length)];
  }

  /** Some of the keys of an object, at least one, with the values that their functions give. */
  some(choices, percent) {
    const keys = Object.keys(choices);
    const chosen = keys.filter(() => this.chance(percent));
    if (chosen.length === 0) chosen.push(this.pick(keys));
    return Object.fromEntries(chosen.map((key) => [key, choices[key]()]));
  }

  add(op, fields) {
    this.statements.push({ kind: 'operation', op, ...fields });
  }

  run() {
    this.prelude();
    while (this.statements.length < this.length) this.step();
    return this.statements;
  }

  prelude() {
    const options = this.some(this.queueOptions(!this.estimates && !this.tunes), 50);
    if (this.estimates) Object.assign(options, { policy: 'adaptive', max_delay: this.delay() });
    else if (!('policy' in options) && this.chance(70)) options.policy = 'fixed';
    if (this.tunes) options.max_delay = this.delay();
    if (this.estimates || this.tunes) options.hold = this.pick(['tuned', 'tuned', 'always']);
    this.statements.push({ kind: 'config', options });
    if (!this.estimates) {
      const signals = { utilization: 1, rate: 1, total: 1, batch_cost: 1 };
      if (this.tunes && !this.compares) signals.saving = 1;
      this.add('signal', { type: null, signals });
    }
    for (const type of TYPES) {
      if (this.chance(40)) continue;
      const age = { retain_max_age: 5 + this.random(40) };
      this.add('set', { type, options: { retain: this.retain.get(type), ...age } });
      if (this.chance(60)) this.add('unhandle', { type });
    }
  }

  step() {
    const dice = this.random(1000);
    if (dice < 410) this.push();
    else if (dice < 600) this.add('turn', {});
    else if (dice < 680) this.wait();
    else if (dice < 720) this.work();
    else if (dice < 780) this.onHandling(this.recent());
    else if (dice < 790) this.add('fail', { id: this.recent() });
    else if (dice < 990) this.add(...this.change());
    else if (dice < 996) this.signal();
    // A closed queue has little to show: only towards the end of the list.
    else if (this.statements.length > this.length * 0.8) this.add(...this.close());
  }

  newEvent() {
    const id = `e${this.ids.length + 1}`;
    const type = this.pick(TYPES);
    this.ids.push(id);
    this.typeOf.set(id, type);
    const priority = this.chance(15) ? this.pick(['high', 'normal', 'low']) : null;
    const key = this.chance(30) ? this.pick(['k', 'l']) : null;
    return { type, id, priority, bytes: this.chance(50) ? this.random(30) : 0, key };
  }

  push() {
    if (this.bursts && this.chance(30)) return this.burst();
    const event = this.newEvent();
    while (this.chance(20)) this.onHandling(event.id);
    if (this.chance(6)) this.add('fail', { id: event.id });
    const time = this.chance(15) ? this.later(8) : null;
    if (time === null) return this.add('push', event);
    this.clock = time;
    this.add('at', { time, operation: { op: 'push', ...event } });
  }

  /** Events enough to say something about how long they take, or to end a window. */
  burst() {
    for (let left = 6 + this.random(8); left > 0; left--) {
      const event = this.newEvent();
      if (this.chance(10)) this.busy(event.id, 12);
      this.add('push', event);
    }
    this.add('turn', {});
    if (this.chance(50)) this.wait();
  }

  busy(id, below) {
    this.add('from', { id, operation: { op: 'busy', ms: this.span(below) } });
  }

  /** What the event's handler does; its pushes may do something in turn. */
  onHandling(id) {
    const dice = this.random(100);
    let operation;
    if (dice < 42) {
      const event = this.newEvent();
      while (this.chance(20)) this.onHandling(event.id);
      operation = { op: 'push', ...event };
    } else if (dice < 52) {
      operation = { op: 'busy', ms: this.span(8) };
    } else if (dice < 97) {
      const [op, fields] = this.change();
      if (op === 'handle' && fields.type === this.typeOf.get(id)) return;
      operation = { op, ...fields };
    } else {
      if (this.statements.length < this.length / 2) return;
      const [op, fields] = this.close();
      operation = { op, ...fields };
    }
    this.add('from', { id, operation });
  }

  /** An operation that a handler may do as well. */
  change() {
    const dice = this.random(100);
    if (dice < 25) return ['handle', { type: this.pick(TYPES) }];
    if (dice < 40) return ['unhandle', { type: this.pick(TYPES) }];
    if (dice < 62) return ['cancel', { id: this.recent() }];
    if (dice < 75) return ['flush', {}];
    if (dice < 90) return ['set', { type: null, options: this.some(this.queueOptions(), 10) }];
    const type = this.pick(TYPES);
    return ['set', { type, options: this.some(this.typeOptions(type), 15) }];
  }

  close() {
    return ['close', { discard: this.chance(40) }];
  }

  recent() {
    if (this.ids.length === 0) this.add('push', this.newEvent());
    return this.ids[Math.max(0, this.ids.length - 1 - this.random(10))];
  }

  wait() {
    if (this.chance(50)) {
      const ms = this.span(12);
      this.clock += ms;
      this.add('advance', { ms });
    } else {
      this.clock = this.later(this.chance(10) ? 80 : 25);
      this.add('at', { time: this.clock, operation: null });
    }
  }

  work() {
    const ms = this.span(this.estimates ? 60 : 15);
    this.clock += ms;
    this.add('busy', { ms });
  }

  span(below) {
    return this.estimates ? this.random(below * 1000) / 1000 : this.random(below);
  }

  later(below) {
    const time = this.clock + this.span(below);
    // Three decimals again, but never before the clock.
    return this.estimates ? Math.ceil(time * 1000) / 1000 : time;
  }

  delay() {
    return this.pick([5, 10, 20]);
  }

  signal() {
    if (this.estimates) return;
    const choices = {
      utilization: () => this.pick([0, 0.5, 0.9, 1]),
      rate: () => this.pick([0, 0.01, 1]),
      total: () => this.pick([0, 1, 10]),
      batch_cost: () => this.pick([0, 0.1, 1]),
    };
    if (this.tunes && !this.compares) {
      choices.saving = () => this.pick([-1, 0, 0.5, 1]);
      choices.slowdown = () => this.pick([0, 0, 0.1]);
    }
    if (this.chance(70)) return this.add('signal', { type: null, signals: this.some(choices, 30) });
    this.add('signal', { type: this.pick(TYPES), signals: { rate: choices.rate() } });
  }

  queueOptions(mayBeInvalid = true) {
    const all = ['direct', 'fixed', 'fixed', 'adaptive'];
    const adaptive = ['direct', 'fixed', ...Array(8).fill('adaptive')];
    const choices = {
      max_batch: () => this.pick(this.bursts ? [3, 8, 12, 40] : [1, 2, 3, 4, 5, 10, 12]),
      threshold: () => this.pick([0, 2, 3, 4]),
      max_queue: () => (this.bursts ? 12 : 3) + this.random(12),
      max_queue_bytes: () => (this.bursts ? 200 : 60) + this.random(120),
      max_deferral: () => this.pick([0, 7, 15, 40]),
      max_batch_time: () => this.pick([0, 2, 5]),
      min_saving: () => this.pick([0, 0.005, 0.02]),
    };
    if (mayBeInvalid && this.chance(4)) return { max_batch: () => this.pick([0, 1000001]) };
    if (this.estimates || this.tunes) choices.max_delay = () => this.delay();
    else choices.max_delay = () => this.pick([0, 5, 10, 20]);
    if (!this.estimates) choices.policy = () => this.pick(this.bursts ? adaptive : all);
    if (!this.estimates) choices.order = () => this.pick(['arrival', 'type']);
    return choices;
  }

  typeOptions(type) {
    if (this.chance(4)) return { retain_max: () => this.pick([0, 1000001]) };
    return {
      priority: () => this.pick(['high', 'normal', 'low']),
      max_batch: () => 1 + this.random(3),
      retain: () => this.pick(['off', this.retain.get(type), this.retain.get(type)]),
      merge: () => this.pick(['off', 'on', 'fail']),
      retain_max: () => 1 + this.random(3),
      retain_max_bytes: () => 20 + this.random(40),
    };
  }
}
