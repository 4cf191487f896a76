/**
 * The plan of a soak: which service runs, and which fault comes when.
 *
 * The time is cut into cycles. In each, people talk, one fault is injected, a quiet wave of the load generator follows, and everybody
 * leaves. A fault has a `name`, a `title` for people, `inject`, which does it and resolves with a sentence on what was done, and, where more
 * must hold than `untilWhole` checks after every fault, `holds`, which throws when it does not. Its moment, its victim and its place in the order come from
 * the seed: every rotation has each fault once, in a new order.
 *
 * Process 1 is never killed. It and the primary live from the beginning to the end, so that a leak cannot hide behind restarts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom, shuffled } from '@millrace/lab/stats';
import { slowReaders } from './readers.js';

const BLOCK_MS = 2_000;
const AWAY_MS = 500;

/** Slot of the process that no fault kills. */
export const SURVIVOR = 1;

/**
 * @typedef {object} Fault
 * @property {string} name
 * @property {string} title
 * @property {(service: import('./service.js').Service, due: Due) => Promise<string>} inject
 * @property {(service: import('./service.js').Service, before: Record<string, number>) => void} [holds] `before` has the counts of the
 *   ledger before the fault
 *
 * @type {Fault[]}
 */
export const FAULTS = [
  {
    name: 'process',
    title: 'a process is killed',
    async inject(service, { slot }) {
      const pid = await service.pidOf(slot);
      service.kill(pid);
      return `process ${slot}, ${pid}, SIGKILL`;
    },
  },
  {
    name: 'broker',
    title: 'the broker is killed',
    async inject({ broker }, { choice }) {
      await broker.kill();
      const ms = Math.round(AWAY_MS * (1 + 3 * choice));
      await sleep(ms);
      await broker.start();
      return `SIGKILL, started again after ${ms} ms`;
    },
  },
  {
    name: 'readers',
    title: 'slow readers',
    async inject(service) {
      const { given, up } = await slowReaders(service);
      service.ledger.count('slow readers', given);
      service.ledger.count('slow readers given up', up);
      return `${up} of ${given} given up`;
    },
    holds({ ledger: { counts } }, before) {
      const up = 'slow readers given up';
      if (counts[up] === (before[up] ?? 0)) throw new Error('no slow reader was given up');
    },
  },
  {
    name: 'loop',
    title: 'a loop is blocked',
    async inject(service, due) {
      const { slot, pid } = await anyOf(service, due);
      await service.ask(pid, 'block', { ms: BLOCK_MS });
      return `of process ${slot}, for ${BLOCK_MS / 1000} s`;
    },
  },
  {
    name: 'thread',
    title: 'a pool thread is ended',
    async inject(service, due) {
      const { slot, pid } = await anyOf(service, due);
      const ended = await service.ask(pid, 'end a thread');
      return `of process ${slot}${ended ? '' : ', which has none'}`;
    },
  },
];

/** Chooses any process, also the one that is never killed. */
async function anyOf(service, { choice }) {
  const { bySlot } = await service.processes();
  const slots = [...bySlot.keys()].sort((a, b) => a - b);
  const slot = slots[Math.floor(choice * slots.length)];
  return { slot, pid: bySlot.get(slot) };
}

/**
 * Plans by name. `faults` runs three processes over NATS and PostgreSQL, `calm` one process over SQLite, without a fault.
 *
 * @type {Record<string, { processes: number, faults: Fault[] }>}
 */
export const PLANS = {
  faults: { processes: 3, faults: FAULTS },
  calm: { processes: 1, faults: [] },
};

/** The moment of a fault, as shares of its cycle. */
const MOMENT = [0.05, 0.2];

/** Cycles from long rest to long rest, in which descriptors and handles are counted. */
const LONG_REST_EVERY = 5;

/**
 * The cycles of a soak.
 *
 * @param {{ processes: number, faults: Fault[] }} plan
 * @param {object} options
 * @param {number} options.seconds of the soak
 * @param {number} options.every seconds of a cycle
 * @param {number} options.seed
 * @returns {Due[]}
 *
 * @typedef {object} Due
 * @property {Fault | undefined} fault
 * @property {number} afterS seconds from the beginning of the cycle to the fault
 * @property {number} choice from 0 to below 1, for what else is to be chosen
 * @property {number} slot of the process that may be killed
 * @property {boolean} hasLongRest
 */
export function schedule({ processes, faults }, { seconds, every, seed }) {
  const random = randomFrom(seed);
  const cycles = Math.max(1, Math.floor(seconds / every));
  const order = [];
  while (faults.length > 0 && order.length < cycles) order.push(...shuffled(faults, random));
  const [least, most] = MOMENT;
  return Array.from({ length: cycles }, (_, i) => ({
    fault: order[i],
    afterS: every * (least + random() * (most - least)),
    choice: random(),
    slot: SURVIVOR + 1 + Math.floor(random() * (processes - 1)),
    // The first cycle is left to what is loaded when it is needed.
    hasLongRest: i % LONG_REST_EVERY === 1 || i === cycles - 1,
  }));
}
