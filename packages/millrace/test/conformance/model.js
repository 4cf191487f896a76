// A reference model of conformance/README.md: the text turned into the plainest code that could work.
// Arrays are searched and sorted again at every step: it is not meant to be fast, and shares no idea with an
// engine, so that both can be wrong only independently.

import { Policy } from './model-policy.js';
import { takeBatch } from './model-take.js';
import { runVector, step } from './runner.js';

const CLASS_OF_TYPE = {
  ...{ signal: 'high', process: 'high', async: 'high' },
  ...{ network: 'normal', filesystem: 'normal', stream: 'normal' },
  ...{ idle: 'low', work: 'low', background: 'low' },
};
const MAX_BYTES = 2 ** 53 - 1;
const RANGES = {
  max_batch: [1, 1000000],
  max_delay: [0, 60000],
  min_saving: [0, 1],
  max_batch_time: [0, 60000],
  threshold: [0, 1000000],
  max_queue: [1, 100000000],
  max_queue_bytes: [1, MAX_BYTES],
  max_deferral: [0, 3600000],
  retain_max: [1, 1000000],
  retain_max_bytes: [1, MAX_BYTES],
  retain_max_age: [1, 2147483647],
};

/** The queue on its virtual clock. `apply` does one operation; what it causes is put into `log`. */
export class Model {
  constructor() {
    this.now = 0;
    this.log = [];
    this.options = {
      ...{ policy: 'adaptive', order: 'arrival', hold: 'tuned', max_batch: 1024, threshold: 0 },
      ...{ max_queue: 65536, max_queue_bytes: 67108864, max_deferral: 100 },
      ...{ min_saving: 0.005, max_batch_time: 0 },
    };
    this.policy = new Policy(this.options);
    this.types = new Map();
    this.events = new Map(); // by ID, every event that was taken
    this.queue = []; // by arrival
    this.sequence = 0; // numbers pushes, registrations and retentions
    this.counter = 0; // fairness
    this.scheduled = false;
    this.dispatching = false;
    this.closed = false;
    this.depth = 0; // above 0 while handlers run
    this.pending = []; // what handlers asked for and waits for the current batch to be over
    this.left = 0; // batches that left at this dispatch point
    this.record = null; // the open hold: { ms, asksAgain }
    this.acts = new Map();
    this.failing = new Set();
    this.totals = {};
    this.worst = { high: 0, normal: 0, low: 0 };
  }

  // --- what is reported and counted

  out(outcome, fields) {
    this.log.push({ outcome, ...fields });
  }

  total(key) {
    this.totals[key] = (this.totals[key] ?? 0) + 1;
  }

  refuse(id, code) {
    this.total(`refused.${code}`);
    this.out('refused', { id, code });
  }

  stats() {
    const retained = this.retained();
    const stats = { queued: this.queue.length, bytes: bytesOf(this.queue) };
    for (const name of ['high', 'normal', 'low']) {
      stats[`depth.${name}`] = this.queue.filter((event) => event.class === name).length;
      stats[`wait.${name}`] = this.worst[name];
    }
    const kept = { retained: retained.length, 'retained.bytes': bytesOf(retained) };
    return { ...stats, ...kept, ...this.totals };
  }

  estimate(type) {
    const { policy, now } = this;
    return type === null ? policy.estimates(now) : { rate: policy.rate(now, this.type(type)) };
  }

  // --- operations

  configure(options) {
    const bad = invalidKey(options);
    if (bad) this.refuse(bad, 'invalid');
    else Object.assign(this.options, options);
  }

  apply(operation) {
    this[operation.op](operation);
  }

  at({ time, operation }) {
    this.wait(time);
    if (operation) this.apply(operation);
  }

  advance({ ms }) {
    this.wait(this.now + ms);
  }

  busy({ ms }) {
    this.policy.busyTimes.push([this.now, this.now + ms]);
    this.now += ms;
  }

  push({ type: name, id, priority, bytes, key }) {
    const type = this.type(name);
    if (this.closed) return this.refuse(id, 'closed');
    const direct = this.options.policy === 'direct';
    const { max_queue: most, max_queue_bytes: mostBytes } = this.options;
    const found = direct ? undefined : this.queue.find((event) => isOfKey(event, type, key));
    const fails = found !== undefined && type.merge === 'fail';
    const older = fails ? undefined : found;
    const others = this.queue.filter((event) => event !== older);
    const full = others.length + 1 > most || bytesOf(others) + bytes > mostBytes;
    if (!direct && full) return this.refuse(id, 'overloaded');
    this.total('pushed');
    this.policy.pushed++;
    if (this.policy.isEstimating()) type.fresh++;
    const event = {
      ...{ id, type, bytes, key: direct ? null : key, time: this.now, number: ++this.sequence },
      class: priority ?? type.priority ?? CLASS_OF_TYPE[name] ?? 'normal',
    };
    this.events.set(id, event);
    if (direct && !this.handing) {
      this.leave('size', [event]);
      this.settle();
    } else if (older) {
      this.supersede(older, event);
    } else {
      if (fails) found.key = null;
      this.queue.push(event);
      if (!this.record || event.class === 'high' || this.isFull() || this.isOverThreshold())
        this.schedule();
    }
    if (!fails) return;
    this.total('errors');
    this.out('error', { id });
  }

  supersede(older, event) {
    const at = this.queue.indexOf(older);
    if (older.class === event.class) {
      event.time = older.time;
      this.queue[at] = event;
    } else {
      this.queue.splice(at, 1);
      this.queue.push(event);
      if (event.class === 'high') this.schedule();
    }
    this.total('superseded');
    this.out('superseded', { id: older.id });
  }

  turn() {
    if (!this.scheduled) return;
    this.scheduled = false;
    this.dispatch();
  }

  handle({ type: name }) {
    const type = this.type(name);
    type.handlers.push({ number: ++this.sequence });
    // Not `schedule`: the replays of a dispatch point that is under way are over.
    if (type.retained.length > 0) this.scheduled = true;
  }

  unhandle({ type }) {
    this.type(type).handlers = [];
  }

  cancel({ id }) {
    const event = this.events.get(id);
    if (!event || this.closed) return this.refuse(id, 'already');
    const list = [this.queue, event.type.retained].find((events) => events.includes(event));
    if (!list) return this.refuse(id, 'already');
    event.cancelled = list === this.queue;
    list.splice(list.indexOf(event), 1);
    this.total('cancelled');
    if (this.queue.length === 0) this.record = null;
  }

  fail({ id }) {
    this.failing.add(id);
  }

  from({ id, operation }) {
    this.acts.set(id, [...(this.acts.get(id) ?? []), operation]);
  }

  signal({ type, signals }) {
    const { rate, ...others } = signals;
    Object.assign(this.policy.signals, others);
    if (rate === undefined) return;
    if (type === null) this.rateOfNewTypes = rate;
    for (const one of type === null ? this.types.values() : [this.type(type)]) one.signal = rate;
  }

  set({ type, options }) {
    const bad = invalidKey(options);
    if (bad) return this.refuse(bad, 'invalid');
    if (type !== null) return this.setType(this.type(type), options);
    if (this.closed) return;
    const coming = Object.assign({}, this.options, ...this.pending.map((action) => action.options));
    const changes = (key) => key in options && options[key] !== coming[key];
    if (changes('policy') || changes('order')) {
      // Several by the handlers of one batch are one switch.
      const waiting = this.pending.find((action) => action.do === 'switch');
      if (waiting) Object.assign(waiting.options, options);
      else this.ask({ do: 'switch', options: { ...options } });
      return;
    }
    // Policy and order are as they are, or on their way.
    const { policy, order } = this.options;
    Object.assign(this.options, options, { policy, order });
    // A switch that waits does not bring back what is set after it.
    const waiting = this.pending.find((action) => action.do === 'switch');
    if (waiting) Object.assign(waiting.options, options);
    if (this.record) this.record.asksAgain = true;
    if (this.queue.length > 0) this.schedule();
  }

  setType(type, options) {
    Object.assign(type, options);
    if (options.retain === 'off') for (const event of [...type.retained]) this.expire(event);
  }

  flush() {
    if (!this.closed) this.ask({ do: 'flush', batches: this.cut() });
  }

  close({ discard }) {
    if (this.closed) return;
    this.closed = true;
    this.ask({ do: 'close', discard });
  }

  // --- what takes effect when no handler runs

  ask(action) {
    this.pending.push(action);
    this.settle();
  }

  settle() {
    while (this.depth === 0) {
      // What was flushed has been cut at the call: it goes before what is cut now.
      this.pending.sort((a, b) => (b.do === 'flush') - (a.do === 'flush'));
      const action = this.pending.shift() ?? this.rest();
      if (!action) return;
      if (action.do === 'close') this.end(action.discard);
      else if (action.do === 'flush') this.handOn('flush', action.batches);
      else if (action.do === 'rest') this.leaveEach('size', action.batches);
      else this.switch(action.options);
    }
  }

  /** Under direct: what handlers of a flush pushed has waited for its end, and leaves event by event. */
  rest() {
    if (this.options.policy !== 'direct' || this.queue.length === 0) return null;
    const { length } = this.queue;
    return {
      do: 'rest',
      batches: this.cut(length)
        .flat()
        .map((event) => [event]),
    };
  }

  switch(options) {
    const batches = this.cut();
    Object.assign(this.options, options);
    this.handOn('flush', batches);
    if (this.queue.length > 0 && this.options.policy !== 'direct') this.schedule();
  }

  end(discard) {
    if (!discard) this.handOn('close', this.cut());
    for (const event of this.cut().flat()) this.refuse(event.id, 'cancelled');
    for (const event of this.retained()) this.expire(event);
  }

  /** Batches that were cut, after due replays. */
  handOn(trigger, batches) {
    this.expireReached();
    this.replayDue();
    this.leaveEach(trigger, batches);
  }

  leaveEach(trigger, batches) {
    this.handing = true;
    for (const batch of batches) this.leave(trigger, batch);
    this.handing = false;
  }

  /** Everything queued, as batches of so many events. */
  cut(maxBatch = this.options.max_batch) {
    const batches = [];
    while (this.queue.length > 0) batches.push(this.take(this.queue, maxBatch));
    this.record = null;
    return batches;
  }

  // --- time

  wait(until) {
    for (;;) {
      const timer = this.nextTimer();
      if (!timer || timer.time > until) break;
      this.now = Math.max(this.now, timer.time);
      if (timer.hold) this.dispatch();
      else this.expireReached();
    }
    this.now = Math.max(this.now, until);
  }

  nextTimer() {
    const timers = this.retained().map((event) => ({ time: deadline(event), hold: false }));
    if (this.record) timers.unshift({ time: this.queue[0].time + this.record.ms, hold: true });
    return timers.sort((a, b) => a.time - b.time)[0];
  }

  schedule() {
    // What handlers push or set at a dispatch point is judged at that dispatch point, unless all batches of it have left.
    if (!this.dispatching || this.left === 8) this.scheduled = true;
  }

  // --- a dispatch point

  dispatch() {
    this.dispatching = true;
    this.left = 0;
    this.policy.fold(this.now, [...this.types.values()]);
    this.expireReached();
    this.replayDue();
    this.settle();
    while (this.queue.length > 0 && this.left < 8) {
      this.policy.comparing = false;
      const trigger = this.judge();
      if (trigger === null) break;
      // A batch may be full, or its hold over, before the hold is on record.
      const held = this.record !== null || ['priority', 'threshold', 'delay'].includes(trigger);
      const limit = this.policy.limit(held);
      const batch = this.take(this.queue, limit);
      this.record = null;
      const isCut = batch.length === limit && limit < this.options.max_batch;
      this.left = isCut && this.queue.length > 0 ? 8 : this.left + 1;
      const { now } = this;
      const sampled = this.policy.handing(batch.length, held || this.policy.comparing);
      this.leave(trigger, batch);
      sampled(this.now, this.now - now);
      this.settle();
    }
    if (this.queue.length > 0 && this.record === null) this.scheduled = true;
    this.dispatching = false;
  }

  isFull() {
    const ofType = (type) => this.queue.filter((event) => event.type === type).length;
    return (
      this.queue.length >= this.options.max_batch ||
      this.queue.some(({ type }) => ofType(type) >= type.max_batch)
    );
  }

  isOverThreshold() {
    const { threshold } = this.options;
    return threshold > 0 && this.queue.length >= threshold;
  }

  /** The trigger that the open batch leaves with, or null; then the hold is on record. */
  judge() {
    if (this.isFull()) return 'size';
    const asked = !this.record || this.record.asksAgain;
    const ms = asked ? this.policy.hold(this.now) : this.record.ms;
    if (ms === 0) {
      this.record = null;
      return this.queue.length > this.policy.limit(false) ? 'size' : 'turn';
    }
    if (this.queue.some((event) => event.class === 'high')) return 'priority';
    if (this.isOverThreshold()) return 'threshold';
    if (this.now >= this.queue[0].time + ms) return 'delay';
    if (asked) this.out('hold', { ms });
    this.record = { ms, asksAgain: false };
    return null;
  }

  /** Takes one batch out of `candidates`, which are queued events by arrival. */
  take(candidates, maxBatch = this.options.max_batch) {
    const options = { ...this.options, max_batch: maxBatch };
    const { taken, counter } = takeBatch(candidates, this.now, this.counter, options);
    this.counter = counter;
    for (const event of taken) event.taken = this.now;
    this.queue = this.queue.filter((event) => !taken.includes(event));
    return taken;
  }

  // --- delivery

  type(name) {
    if (!this.types.has(name)) {
      this.types.set(name, {
        ...{ name, handlers: [{ number: 0 }], retained: [], rate: 0, folded: 0, fresh: 0 },
        signal: this.rateOfNewTypes,
        ...{ retain: 'off', retain_max: 1000, retain_max_bytes: 1048576, retain_max_age: 60000 },
      });
    }
    return this.types.get(name);
  }

  leave(trigger, batch) {
    this.total('batches');
    this.total(`trigger.${trigger}`);
    this.out('expect', { time: this.now, trigger, ids: batch.map((event) => event.id) });
    this.policy.left += batch.length;
    for (const event of batch) {
      const wait = (event.taken ?? this.now) - event.time;
      this.worst[event.class] = Math.max(this.worst[event.class], wait);
    }
    for (const event of batch) this.deliver(event);
  }

  deliver(event) {
    // Again when a replay has registered another handler.
    while (event.type.handlers.some((handler) => dueTo(event.type, handler)))
      this.replay(event.type);
    if (event.type.handlers.length === 0) return this.keep(event);
    this.total('delivered');
    for (const _ of [...event.type.handlers]) if (!this.run(event)) break;
  }

  /** One handler gets the event; false if it failed. Its operations are done by the first one. */
  run(event) {
    const acts = this.acts.get(event.id) ?? [];
    this.acts.delete(event.id);
    this.depth++;
    for (const operation of acts) this.apply(operation);
    this.depth--;
    if (!this.failing.has(event.id)) return true;
    this.total('errors');
    this.out('error', { id: event.id });
    return false;
  }

  // --- retention

  keep(event) {
    const { type } = event;
    const bytes = bytesOf([...type.retained, event]);
    if (type.retain === 'off') {
      this.total('unhandled');
      this.out('unhandled', { id: event.id });
    } else if (type.retained.length + 1 > type.retain_max || bytes > type.retain_max_bytes) {
      this.refuse(event.id, 'retention');
    } else {
      Object.assign(event, { since: this.now, kept: ++this.sequence, got: [] });
      type.retained.push(event);
      this.total('held');
      this.out('held', { id: event.id });
    }
  }

  /** Everything retained, in the order in which it was retained. */
  retained() {
    const lists = [...this.types.values()].map((type) => type.retained);
    return lists.flat().sort((a, b) => a.kept - b.kept);
  }

  expireReached() {
    const reached = this.retained().filter((event) => this.now >= deadline(event));
    for (const event of reached.sort((a, b) => deadline(a) - deadline(b))) this.expire(event);
  }

  expire(event) {
    const { retained } = event.type;
    retained.splice(retained.indexOf(event), 1);
    if (event.got.length > 0) return;
    this.total('expired');
    this.out('expired', { id: event.id });
  }

  replayDue() {
    const due = [...this.types.values()]
      .map((type) => ({ type, first: type.handlers.find((handler) => dueTo(type, handler)) }))
      .filter(({ first }) => first)
      .sort((a, b) => a.first.number - b.first.number);
    for (const { type } of due) this.replay(type);
  }

  replay(type) {
    // Handlers that are registered from here on have to wait for the next replay.
    const last = this.sequence;
    const isDueNow = (one, handler) => handler.number <= last && isDue(one, handler);
    for (;;) {
      const event = type.retained.find((one) => type.handlers.some((h) => isDueNow(one, h)));
      if (!event) return;
      const handlers = type.handlers.filter((handler) => isDueNow(event, handler));
      event.got.push(...handlers);
      if (type.retain === 'first') type.retained.splice(type.retained.indexOf(event), 1);
      for (const _ of handlers) {
        this.total('replayed');
        this.out('replayed', { id: event.id });
        if (!this.run(event)) break;
      }
    }
  }
}

const isOfKey = (event, type, key) => key !== null && event.type === type && event.key === key;
const bytesOf = (events) => events.reduce((sum, event) => sum + event.bytes, 0);
const isDue = (event, handler) => handler.number > event.kept && !event.got.includes(handler);
const dueTo = (type, handler) => type.retained.some((event) => isDue(event, handler));
const deadline = (event) => event.since + event.type.retain_max_age;

/** The first key whose value is out of range. */
function invalidKey(options) {
  const within = ([low, high], value) => value >= low && value <= high;
  return Object.keys(options).find((key) => key in RANGES && !within(RANGES[key], options[key]));
}

/**
 * What a list of statements (`config` and operations) causes: for each of them the outcomes, in the
 * shapes of the reader's. `model` is the state at the end.
 */
export function play(statements, model = new Model()) {
  return { outcomes: statements.map((statement) => step(statement, model)), model };
}

/** Runs a vector: null, or the first mismatch as { line, expected, actual } in words. */
export function runModel(vector) {
  return runVector(vector, new Model());
}
