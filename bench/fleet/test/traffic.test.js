import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { roomTraffic } from '../traffic.js';

const near = (found, expected, tolerance = 1e-9) =>
  assert.ok(
    Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected)),
    `${found}, not ${expected}`,
  );

describe('the traffic of a room', () => {
  test('by hand: two members at two nodes, no batches', () => {
    const found = roomTraffic({ members: 2, rate: 1, nodes: 2, brokers: 1, window: 0 });
    near(found.messages, 2);
    near(found.deliveries, 4);
    near(found.sends, 4, 1e-5);
    near(found.batches, 2, 1e-5);
    // Each of two messages has to go to the other node when the other member is there: half of them.
    near(found.batchesIn, 1, 1e-5);
    near(found.recordsIn, 1);
    near(found.spread, 1.5);
    assert.equal(found.routed, 0);
  });

  test('by hand: three members at two nodes and two brokers', () => {
    const found = roomTraffic({ members: 3, rate: 2, nodes: 2, brokers: 2, window: 0 });
    // The others are both at the sender's node in 1 of 4 cases.
    near(found.recordsIn, 6 * 0.75);
    near(found.recordsRouted, 6 * 0.75);
    near(found.routed, found.batchesIn);
    near(found.spread, 2 * (1 - 1 / 8));
  });

  test('by hand: a window in which everybody speaks makes one batch a node and one write a member', () => {
    const found = roomTraffic({ members: 1000, rate: 1000, nodes: 2, brokers: 1, window: 0.1 });
    near(found.batches, 2 / 0.1);
    near(found.batchesIn, 2 / 0.1);
    near(found.sends, 1000 / 0.1);
    near(found.recordsIn, 1e6);
  });

  test('of one member nothing goes anywhere', () => {
    const found = roomTraffic({ members: 1, rate: 3, nodes: 9, brokers: 3, window: 0.01 });
    near(found.batchesIn, 0, 1e-12);
    near(found.routed, 0, 1e-12);
    assert.equal(found.recordsIn, 0);
    near(found.deliveries, 3);
  });

  test('at one node nothing comes back, and without messages there is none', () => {
    const alone = roomTraffic({ members: 50, rate: 3, nodes: 1, brokers: 1, window: 0.01 });
    assert.equal(alone.batchesIn, 0);
    assert.equal(alone.spread, 1);
    const silent = roomTraffic({ members: 50, rate: 0, nodes: 5, brokers: 2, window: 0.01 });
    for (const name of ['messages', 'deliveries', 'sends', 'batches', 'batchesIn', 'routed']) {
      near(silent[name], 0, 1e-12);
    }
  });

  test('what comes is what was sent to others: none is made or lost', () => {
    for (const members of [2, 7, 300]) {
      for (const nodes of [2, 5, 1000]) {
        const found = roomTraffic({ members, rate: 0.3, nodes, brokers: 3, window: 0 });
        // A message reaches all nodes with a member of its room but the one that it comes from; without batches one each.
        near(found.batchesIn, found.recordsIn, 1e-4);
        // All that a sender's node does not have is with the others.
        const withSender = found.messages * (1 + (members - 1) / nodes);
        assert.ok(found.recordsIn <= found.deliveries - withSender + 1e-9);
        assert.ok(found.spread <= Math.min(nodes, members) + 1e-9);
      }
    }
  });

  test('a longer window makes fewer batches and writes, never more', () => {
    let last = null;
    for (const window of [0, 1e-4, 1e-3, 1e-2, 0.1, 1]) {
      const found = roomTraffic({ members: 40, rate: 2, nodes: 6, brokers: 3, window });
      for (const name of ['sends', 'batches', 'batchesIn', 'routed']) {
        assert.ok(last === null || found[name] <= last[name] * (1 + 1e-9), `${name}, ${window}`);
      }
      last = found;
    }
  });

  test('is exact where rooms are small and nodes are many', () => {
    const found = roomTraffic({ members: 2, rate: 1e-3, nodes: 1e6, brokers: 64, window: 1e-4 });
    near(found.batchesIn, found.recordsIn, 1e-6);
    near(found.routed, found.recordsRouted, 1e-6);
  });
});
