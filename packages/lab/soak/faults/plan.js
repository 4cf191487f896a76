/** When which fault happens. */
import { randomFrom, shuffled } from '../../experiment/random.js';

/** Each is in every rotation once, in a new order. */
export const KINDS = ['process', 'broker', 'readers', 'loop', 'thread'];

/** Slots of the cluster, and the one whose process no fault kills: it lives from the beginning to the end. */
export const PROCESSES = 3;
export const SURVIVOR = 1;

/** In a cycle, as shares of it: the fault comes in the first part, the quiet wave in the second, the rest is rest. */
const FAULT = [0.05, 0.2];

/** Of five cycles one ends with a long rest, in which descriptors and handles are counted. */
const LONG_REST_EVERY = 5;

/**
 * @param {object} options
 * @param {number} options.seconds of the soak
 * @param {number} options.every seconds of a cycle, each with one fault
 * @param {number} options.seed
 * @param {number[]} options.slots of the processes that may be killed
 * @returns {{ kind: string, afterS: number, choice: number, slot: number, hasLongRest: boolean }[]} one for each cycle: the fault comes
 *   `afterS` after its beginning; `choice`, from 0 to below 1, is for what else is to be chosen
 */
export function plan({ seconds, every, seed, slots }) {
  const random = randomFrom(seed);
  const cycles = Math.max(1, Math.floor(seconds / every));
  const kinds = [];
  while (kinds.length < cycles) kinds.push(...shuffled(KINDS, random));
  return kinds.slice(0, cycles).map((kind, i) => ({
    kind,
    afterS: every * (FAULT[0] + random() * (FAULT[1] - FAULT[0])),
    choice: random(),
    slot: slots[Math.floor(random() * slots.length)],
    // The first cycle is left to what is loaded when it is needed.
    hasLongRest: i % LONG_REST_EVERY === 1 || i === cycles - 1,
  }));
}
