// Drives the engine of this package through the operations of a vector, on a virtual clock. The same interface as the
// reference model: `configure`, `apply`, `log`, `stats`, `estimate`, `now`.

import { parse, parseGiven } from '@millrace/base/options';
import { classOf } from '@millrace/base/priority';
import { typeSchema } from '../../dist/emitter/options.js';
import { Dispatcher } from '../../dist/engine/dispatch.js';
import { Engine } from '../../dist/engine/engine.js';
import { queueSchema, retainSchema } from '../../dist/engine/options.js';
import { Utilization } from '../../dist/engine/policy.js';

/** The grammar's keys in the package's spelling. */
const optionNames = {
  policy: 'policy',
  order: 'order',
  max_batch: 'maxBatch',
  max_delay: 'maxDelay',
  threshold: 'threshold',
  min_saving: 'minSaving',
  max_batch_time: 'maxBatchTime',
  hold: 'hold',
  max_queue: 'maxQueue',
  max_queue_bytes: 'maxQueueBytes',
  max_deferral: 'maxDeferral',
};
/** The grammar's words for what the policy goes by, in the package's spelling. */
const signalNames = {
  utilization: 'utilization',
  rate: 'rate',
  total: 'total',
  batch_cost: 'batchCost',
  event_cost: 'eventCost',
  hold_cost: 'holdCost',
  limit: 'limit',
  saving: 'saving',
  slowdown: 'slowdown',
};
const retainNames = { retain_max: 'max', retain_max_bytes: 'maxBytes', retain_max_age: 'maxAge' };

/** A type's `merge`. The data of an event is its ID, and that of a combined one the newer ID. */
const merges = {
  off: null,
  on: (_older, data, bytes) => ({ data, bytes }),
  fail: () => {
    throw new Error('the merge fails');
  },
};

/** A clock that stands still unless told, and the timers that hang on it. */
class VirtualHost {
  time = 0;
  scheduled = false;
  holdAt = null;
  expiryAt = null;
  holdCost = 0.05;
  #utilization = new Utilization(0);
  #busy = 0;

  now() {
    return this.time;
  }

  clock() {
    return this.time;
  }

  busy() {
    return this.#busy;
  }

  tick() {
    return { time: this.time };
  }

  schedule() {
    this.scheduled = true;
  }

  arm(deadline) {
    this.holdAt = deadline;
  }

  utilization(now) {
    return this.#utilization.read(now);
  }

  pass(ms, busy) {
    this.#utilization.observe(this.time, this.time + ms, busy ? ms : 0);
    if (busy) this.#busy += ms;
    this.time += ms;
  }
}

export class EngineRun {
  log = [];
  #host = new VirtualHost();
  #events = new Map();
  #handlers = new Map();
  #acts = new Map();
  #failing = new Set();
  #retain = new Map();
  #invalid = 0;
  #already = 0;

  constructor() {
    this.dispatcher = new Dispatcher(this.#front(), (deadline) => {
      this.#host.expiryAt = deadline;
    });
    this.dispatcher.observer = {
      batch: ({ time, trigger, events }) =>
        this.#out('expect', { time, trigger, ids: events.map((event) => event.data) }),
      held: (event) => this.#out('held', { id: event.data }),
      replayed: (event) => this.#out('replayed', { id: event.data }),
    };
    this.#make({});
  }

  get now() {
    return this.#host.time;
  }

  #make(options) {
    const parsed = parseGiven('', options, queueSchema);
    this.engine = new Engine(this.#host, this.dispatcher, parsed);
    this.dispatcher.attach(this.engine);
    this.engine.onHold = (ms) => this.#out('hold', { ms });
    this.engine.onSuperseded = (older) => this.#out('superseded', { id: older.data });
  }

  #out(outcome, fields) {
    this.log.push({ outcome, ...fields });
  }

  #front() {
    return {
      run: (event) => {
        const handlers = [...this.#handlersOf(event.type)];
        for (const _ of handlers) this.#handler(event);
        return handlers.length > 0;
      },
      replay: (event) => this.#handler(event),
      receivers: (type) => [...this.#handlersOf(type)],
      failed: (_error, event) => this.#out('error', { id: event.data }),
      lost: (event, why) => {
        const outcome = {
          unhandled: ['unhandled'],
          retention: ['refused', { code: 'retention' }],
          cancelled: ['refused', { code: 'cancelled' }],
        }[why] ?? ['expired'];
        this.#out(outcome[0], { id: event.data, ...outcome[1] });
      },
      macrotask: () => assertUnreachable(),
    };
  }

  #handler(event) {
    const acts = this.#acts.get(event.data) ?? [];
    this.#acts.delete(event.data);
    for (const operation of acts) this.apply(operation);
    if (this.#failing.has(event.data)) throw new Error(`the handler of ${event.data} fails`);
  }

  #handlersOf(type) {
    if (!this.#handlers.has(type)) this.#handlers.set(type, [{}]);
    return this.#handlers.get(type);
  }

  configure(options) {
    this.#checked(options, () => this.#make(renamed(options)));
  }

  apply(operation) {
    this[operation.op](operation);
  }

  at({ time, operation }) {
    this.#wait(time);
    if (operation) this.apply(operation);
  }

  advance({ ms }) {
    this.#wait(this.now + ms);
  }

  busy({ ms }) {
    this.#host.pass(ms, true);
  }

  #wait(until) {
    for (;;) {
      const { holdAt, expiryAt } = this.#host;
      const times = [holdAt, expiryAt].filter((time) => time !== null);
      const next = Math.min(...times);
      if (times.length === 0 || next > until) break;
      this.#host.pass(Math.max(0, next - this.now), false);
      // Exactly the timer's time, whatever the sum of fractions came to.
      this.#host.time = Math.max(this.#host.time, next);
      if (holdAt === next) {
        this.#host.holdAt = null;
        this.engine.holdEnded();
      } else {
        this.dispatcher.retention.expire(this.now);
      }
    }
    this.#host.pass(Math.max(0, until - this.now), false);
    this.#host.time = Math.max(this.#host.time, until);
  }

  push({ type, id, priority, bytes, key }) {
    const level = priority === null ? -1 : classOf(priority);
    try {
      const entry = this.engine.entry(type);
      const event =
        key === null
          ? this.engine.push(entry, id, level, bytes, null)
          : this.engine.pushKeyed(entry, key, id, level, bytes, null);
      this.#events.set(id, event);
    } catch (error) {
      this.#refused(id, error);
    }
  }

  turn() {
    this.#host.scheduled = false;
    this.engine.turn();
  }

  handle({ type }) {
    const handler = {};
    this.#handlersOf(type).push(handler);
    this.dispatcher.registered(type, handler);
  }

  unhandle({ type }) {
    this.#handlersOf(type).length = 0;
  }

  cancel({ id }) {
    const event = this.#events.get(id);
    const done =
      event !== undefined &&
      !this.engine.closed &&
      (this.engine.cancel(event) || this.dispatcher.cancel(event));
    if (done) return;
    this.#already++;
    this.#out('refused', { id, code: 'already' });
  }

  fail({ id }) {
    this.#failing.add(id);
  }

  from({ id, operation }) {
    this.#acts.set(id, [...(this.#acts.get(id) ?? []), operation]);
  }

  signal({ type, signals }) {
    this.engine.give(renamed(signals, signalNames), type ?? undefined);
  }

  set({ type, options }) {
    this.#checked(options, () => {
      if (type === null) this.engine.set(parseGiven('', renamed(options), queueSchema));
      else this.#setType(type, options);
    });
  }

  #setType(type, options) {
    const entry = this.engine.entry(type);
    const retain = { ...this.#retain.get(type), ...options };
    const limits = Object.entries(retainNames).filter(([key]) => key in retain);
    const given = {
      ...Object.fromEntries(limits.map(([key, name]) => [name, retain[key]])),
      ...(retain.retain === 'each' ? { replay: 'each' } : {}),
    };
    const kept = parse('', given, retainSchema);
    const { priority, max_batch, merge } = options;
    const { maxBatch = entry.maxBatch } = parse('', { priority, maxBatch: max_batch }, typeSchema);
    // Everything is checked: from here on nothing throws.
    if (merge !== undefined) entry.merge = merges[merge];
    if (priority !== undefined) entry.priority = classOf(priority);
    this.engine.queue.setMaxBatch(entry, maxBatch);
    this.#retain.set(type, retain);
    const off = (retain.retain ?? 'off') === 'off';
    this.dispatcher.retention.configure(type, off ? null : kept);
  }

  /** An option out of range is refused under its own key, and nothing of the line is applied. */
  #checked(options, apply) {
    try {
      apply();
    } catch (error) {
      if (error.code !== 'MILLRACE_E_INVALID_OPTION') throw error;
      const name = /^: '(\w+)'/.exec(error.message)[1];
      const names = Object.entries({ ...optionNames, ...retainNames });
      const key = names.find(([key, spelled]) => spelled === name && key in options)[0];
      this.#invalid++;
      this.#out('refused', { id: key, code: 'invalid' });
    }
  }

  #refused(id, error) {
    const code = { MILLRACE_E_OVERLOADED: 'overloaded', MILLRACE_E_CLOSED: 'closed' }[error.code];
    if (code === undefined) throw error;
    this.#out('refused', { id, code });
  }

  flush() {
    this.engine.flush();
  }

  close({ discard }) {
    this.engine.close(discard);
  }

  estimate(type) {
    const estimates = this.engine.estimate(type);
    const words = Object.entries(signalNames).map(([word, name]) => [word, estimates[name]]);
    return Object.fromEntries(words);
  }

  stats() {
    const stats = this.engine.stats();
    const { counters, count, bytes } = this.dispatcher.retention;
    const of = (group, values) =>
      Object.fromEntries(Object.entries(values).map(([key, value]) => [`${group}.${key}`, value]));
    return {
      ...stats,
      ...of('depth', stats.depth),
      ...of('wait', stats.worstWait),
      ...of('trigger', stats.trigger),
      ...of('refused', { ...stats.refused, invalid: this.#invalid, already: this.#already }),
      retained: count,
      'retained.bytes': bytes,
      held: counters.held,
      replayed: counters.replayed,
      expired: counters.expired,
    };
  }
}

function renamed(values, names = optionNames) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [names[key], value]));
}

function assertUnreachable() {
  throw new Error("isolation is 'batch' here: no macrotask is asked for");
}
