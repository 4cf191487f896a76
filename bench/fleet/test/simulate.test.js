/** The model against small fleets that are played event by event. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brokerLoad } from '../broker.js';
import { fleetTraffic } from '../crowd.js';
import { Events } from '../events.js';
import { scenario } from '../inputs.js';
import { nodeLoad } from '../node.js';
import { simulate } from '../simulate.js';

const costs = {
  ...{ receiveUs: 12, sendUs: 4.5, deliverUs: 1, publishUs: 5, batchUs: 8, recordUs: 1 },
  ...{ turnUs: 50, inUs: 4, outUs: 4, brokerCores: 4, brokerShare: 0.7, heartbeat: 0 },
};
const RATES = ['messages', 'deliveries', 'sends', 'batches', 'batchesIn', 'recordsIn'];

const cases = [
  { name: 'rooms of 50', nodes: 4, seconds: 20, given: { connections: 1000, rate: 0.5 } },
  {
    name: 'busy rooms of 20',
    ...{ nodes: 4, seconds: 5, given: { connections: 400, members: [[20, 1]], rate: 20 } },
  },
  {
    name: 'the same with a hold of 20 ms, so with batches',
    ...{ nodes: 3, seconds: 5 },
    given: { connections: 400, members: [[20, 1]], rate: 20, hold: 20 },
  },
  {
    name: 'rooms of two sizes',
    ...{ nodes: 4, seconds: 10 },
    given: {
      ...{ connections: 2000, rate: 0.5 },
      members: [
        [2, 0.5],
        [100, 0.5],
      ],
    },
  },
  {
    name: 'talks of two at many nodes',
    ...{ nodes: 40, seconds: 10, given: { connections: 2000, members: [[2, 1]], rate: 6 } },
  },
];

describe('the model says what a small fleet does', () => {
  for (const { name, nodes, seconds, given } of cases) {
    test(name, () => {
      const s = scenario({ ...costs, ...given });
      const played = simulate(s, { nodes, seconds, seed: 7 });
      const { window, use } = nodeLoad(s, nodes);
      const worked = fleetTraffic(s, { nodes, brokers: 1, window });
      for (const rate of RATES) close(rate, played[rate], worked[rate], 0.04);
      close('busy', played.busy, use.cpu, 0.04);
      const broker = brokerLoad(s, { nodes, brokers: 1, window });
      close('brokerUse', played.brokerUse, broker.use.cpu, 0.04);
      close('a batch', played.messages / played.batches, worked.messages / worked.batches, 0.02);
    });
  }

  test('the wait for a broker that is busy', () => {
    const s = scenario({
      ...costs,
      ...{ brokerCores: 1, inUs: 25, outUs: 20, connections: 1000, rate: 5 },
      members: [[10, 1]],
    });
    const played = simulate(s, { nodes: 4, seconds: 20, seed: 7 });
    const { window } = nodeLoad(s, 4);
    const { use, waitMs } = brokerLoad(s, { nodes: 4, brokers: 1, window });
    assert.ok(use.cpu > 0.5 && use.cpu < 0.7, `a broker that is busy, ${use.cpu}`);
    close('waitMs', played.waitMs, waitMs, 0.12);
  });

  test('the same seed, the same fleet; another, another', () => {
    const s = scenario({ ...costs, connections: 200, rate: 1 });
    const run = { nodes: 2, seconds: 2, seed: 3 };
    assert.deepEqual(simulate(s, run), simulate(s, run));
    assert.notDeepEqual(simulate(s, run), simulate(s, { ...run, seed: 4 }));
  });
});

test('events come in the order of their times', () => {
  const events = new Events();
  const seen = [];
  const delays = [5, 1, 4, 1, 3, 9, 2, 6, 0.5];
  for (const delay of delays) events.after(delay, () => seen.push(events.now));
  events.after(2.5, () => events.after(0.25, () => seen.push(events.now)));
  events.runUntil(6);
  assert.deepEqual(seen, [0.5, 1, 1, 2, 2.75, 3, 4, 5, 6]);
  assert.equal(events.now, 6);
});

function close(what, found, expected, tolerance) {
  const off = found / expected - 1;
  assert.ok(Math.abs(off) <= tolerance, `${what}: played ${found}, worked out ${expected}`);
}
