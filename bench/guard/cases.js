/** What is offered to the servers, for how long, and what is wanted of ours. */

/** Nobody waits longer for an answer. */
export const patienceMs = 500;

/** Who asks in an open loop: the share of each class. A closed one has no classes. */
export const classes = { high: 0.2, normal: 0.5, low: 0.3 };

const work = () => '/work';
const waiting = () => '/async';
const mixed = (draw) => (draw < 0.9 ? '/short' : '/long');

/**
 * - `path` gives the path of a request from a number of 0 to 1.
 * - `connections`: a closed loop, each sends its next request when it has its answer; `times`: an open loop
 *   of this many times the capacity. That is measured by `alone` connections: where a handler waits, one would leave the CPU idle.
 * - `quick`: rounds of a quick run, seconds of warm-up, and seconds that count; null: only in a full run.
 * - `beside`: of a closed loop, the open one without which no short table shows it.
 * - `wanted`: the least that `ahead` has to be for good answers against peers; whether the targets of /health, of the
 *   classes that must not be shed or must all have good answers, and of the slowest answers hold.
 */
export const cases = {
  '25ms closed 50': {
    path: work,
    connections: 50,
    beside: '25ms open 10x',
    quick: [6, 1, 1.5],
    wanted: { good: { capacity: 0.9, 'under-pressure': 3.5 }, health: true, cold: true },
  },
  '25ms open 0.75x': {
    path: work,
    times: 0.75,
    quick: null,
    wanted: { admitted: ['high', 'normal'] },
  },
  '25ms open 1.5x': {
    path: work,
    times: 1.5,
    quick: null,
    wanted: { high: true },
  },
  '25ms open 10x': {
    path: work,
    times: 10,
    quick: [6, 0.5, 1.2],
    wanted: { good: { capacity: 0.9 } },
  },
  'mixed 2x': {
    path: mixed,
    times: 2,
    quick: [6, 0.6, 1.3],
    wanted: { good: { unprotected: 1.4 } },
  },
  'async 1.5x': {
    path: waiting,
    times: 1.5,
    alone: 4,
    quick: [6, 0.6, 1.3],
    // Both can use all of the CPU: no worse is what can be told.
    wanted: { good: { unprotected: 0.95 }, slowestMs: 500 },
  },
};
