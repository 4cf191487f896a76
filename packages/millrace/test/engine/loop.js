/**
 * A server on a virtual clock, to weigh policies without noise: an engine with its real policy and estimators on a loop whose every step
 * takes a given time. Events come at random times for some destinations; a turn of the loop takes in all that have come, and hands over
 * batches at its end. In a closed loop each sender sends again when its event was handed over.
 */
import { Engine } from '../../dist/engine/engine.js';
import { Utilization } from '../../dist/engine/policy.js';

/** ms of other work of the loop. */
const costs = { wake: 0.02, turn: 0.02, timer: 0.03 };
/** Time in ms between an event that was handed over and the next one of its sender. */
const roundTrip = 0.2;

function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class VirtualLoop {
  now = 0;
  busyMs = 0;
  scheduled = false;
  deadline = null;
  #utilization = new Utilization(0);

  work(ms) {
    this.#utilization.observe(this.now, this.now + ms, ms);
    this.now += ms;
    this.busyMs += ms;
  }

  sleep(until) {
    this.#utilization.observe(this.now, until, 0);
    this.now = until;
  }

  /** The host of an engine. */
  get host() {
    return {
      now: () => this.now,
      clock: () => this.now,
      tick: () => ({ time: this.now }),
      schedule: () => {
        this.scheduled = true;
      },
      arm: (deadline) => {
        this.deadline = deadline;
      },
      utilization: (now) => this.#utilization.read(now),
      busy: () => this.busyMs,
      holdCost: 0.05,
    };
  }
}

/**
 * @param {object} load
 * @param {number} [load.rate] events per ms, in an open loop
 * @param {number} [load.senders] in a closed one
 * @param {number} load.destinations
 * @param {number} load.batch ms that a batch costs for each destination in it
 * @param {number} load.event ms that an event in it costs
 * @param {number} load.intake ms that taking in an event costs
 * @param {object} options of the queue
 * @param {{ seed?: number, seconds?: number, warmup?: number }} [run]
 * @returns {{ cores: number, median: number, perMs: number }} cores in use, median delay in ms, and events handed over in a ms, after
 *   the warm-up
 */
export function serve(load, options, { seed = 1, seconds = 8, warmup = 3 } = {}) {
  const random = randomFrom(seed);
  const loop = new VirtualLoop();
  const end = seconds * 1000;
  const begin = warmup * 1000;
  const delays = [];
  let busyBefore = null;
  /** Events that are to come, the next one last. */
  const coming = load.senders ? senders(load, random) : arrivals(load, end, random);
  const sink = {
    deliver({ events }) {
      const destinations = new Set(events.map(({ type }) => type)).size;
      loop.work(load.batch * destinations + load.event * events.length);
      for (const { data } of events) {
        if (busyBefore !== null) delays.push(loop.now - data.due);
        if (load.senders) coming.unshift({ due: loop.now + roundTrip, to: data.to });
      }
      return true;
    },
  };
  const engine = new Engine(loop.host, sink, options);
  const entries = Array.from({ length: load.destinations }, (_, i) => engine.entry(`room ${i}`));

  while (loop.now < end) {
    if (busyBefore === null && loop.now >= begin) busyBefore = loop.busyMs;
    const wakeAt = Math.min(coming.at(-1)?.due ?? end, loop.deadline ?? end);
    if (!loop.scheduled && wakeAt > loop.now) {
      loop.sleep(Math.min(wakeAt, end));
      loop.work(costs.wake);
    }
    loop.work(costs.turn);
    if (loop.deadline !== null && loop.deadline <= loop.now) {
      loop.deadline = null;
      loop.work(costs.timer);
      engine.holdEnded();
    }
    while (coming.length > 0 && coming.at(-1).due <= loop.now) {
      const event = coming.pop();
      loop.work(load.intake);
      engine.push(entries[event.to], event, -1, 0, null);
    }
    if (loop.scheduled) {
      loop.scheduled = false;
      engine.turn();
    }
  }
  delays.sort((a, b) => a - b);
  const ms = loop.now - begin;
  return {
    cores: (loop.busyMs - busyBefore) / ms,
    median: delays[delays.length >> 1],
    perMs: delays.length / ms,
    stats: engine.stats(),
  };
}

/** A Poisson process. */
function arrivals({ rate, destinations }, end, random) {
  const all = [];
  for (let due = 0; due < end; ) {
    due += -Math.log(1 - random()) / rate;
    all.push({ due, to: Math.floor(random() * destinations) });
  }
  return all.reverse();
}

function senders({ senders: count, destinations }, random) {
  const all = Array.from({ length: count }, (_, i) => ({
    due: random() * roundTrip,
    to: i % destinations,
  }));
  return all.sort((a, b) => b.due - a.due);
}
