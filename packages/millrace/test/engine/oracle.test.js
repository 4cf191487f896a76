/**
 * `adaptive` against the best way in hindsight, on a virtual loop and so without noise: at every load and within every budget it is to
 * cost at most a tenth more than the best of the end of the turn and fixed delays. Figures of real servers: `make bench NAME=policy`.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { serve } from './loop.js';

/** ms, like those of `Rooms` with rooms of 50 members on a server of two cores. */
const rooms = { destinations: 10, batch: 0.45, event: 0.1, intake: 0.03 };
const inserts = { destinations: 1, batch: 2, event: 0.02, intake: 0.01 };
const loads = {
  '5,000 deliveries a second': { ...rooms, rate: 0.1 },
  '20,000': { ...rooms, rate: 0.4 },
  '50,000': { ...rooms, rate: 1 },
  '100,000': { ...rooms, rate: 2 },
  '160,000, more than the end of the turn can take in time': { ...rooms, rate: 3.2 },
  '450,000': { ...rooms, rate: 9, event: 0.05, intake: 0.02 },
  '60,000 in 20 larger rooms': {
    destinations: 20,
    batch: 0.9,
    event: 0.2,
    intake: 0.03,
    rate: 0.6,
  },
  'events whose batches cost next to nothing': { ...rooms, batch: 0.01, event: 0.01, rate: 5 },
  'events whose batches cost nothing': { ...rooms, batch: 0, event: 0.2, rate: 2 },
  '100 durable inserts a second': { ...inserts, rate: 0.1 },
  '1,000 durable inserts a second': { ...inserts, rate: 1 },
};
const budgets = [2, 5, 20, 50];
const delays = [1, 2, 5, 10, 20, 50];
/** A ms of delay at the price of `minSaving`. */
const score = ({ cores, median }) => cores + 0.005 * (1 - Math.min(1, cores)) ** 2 * median;

describe('adaptive is within a tenth of the best way in hindsight', () => {
  for (const [name, load] of Object.entries(loads)) {
    test(name, () => {
      const endOfTurn = score(serve(load, { maxDelay: 0 }));
      const fixed = delays.map((maxDelay) => [
        maxDelay,
        score(serve(load, { policy: 'fixed', maxDelay })),
      ]);
      for (const budget of budgets) {
        const within = fixed.filter(([delay]) => delay <= budget).map(([, cost]) => cost);
        const ahead = Math.min(endOfTurn, ...within) / score(serve(load, { maxDelay: budget }));
        assert.ok(ahead >= 0.91, `${ahead.toFixed(3)} of the best within ${budget} ms`);
      }
    });
  }
});

describe('adaptive leaves a closed loop its throughput', () => {
  for (const senders of [50, 500]) {
    test(`${senders} senders that wait for each answer`, () => {
      const load = { ...rooms, senders };
      const { perMs } = serve(load, { maxDelay: 0 }, { seconds: 16 });
      for (const budget of budgets) {
        const share = serve(load, { maxDelay: budget }, { seconds: 16 }).perMs / perMs;
        assert.ok(share >= 0.97, `${share.toFixed(3)} of the events with ${budget} ms`);
      }
    });
  }
});

test('50,000 a second cost less than 0.64 of the CPU of the end of the turn with 50 ms', () => {
  const load = { ...rooms, rate: 1 };
  const { cores } = serve(load, { maxDelay: 0 });
  assert.ok(serve(load, { maxDelay: 50 }).cores <= 0.64 * cores);
});
