/** Writes in a turn, and what `net` saves of them in truth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coalesce } from 'millrace/net';
import { observe } from 'millrace/observe';
import { accepted, turnOver } from './sockets.js';

const text = (bytes) => 'x'.repeat(bytes);

/** Sizes of the writes of one turn to each of the sockets, turn by turn. */
const cases = {
  '3 writes on 5 sockets': [[5, [10, 10, 10]]],
  'a write for each': [
    [5, [10]],
    [5, [10]],
  ],
  'two writes: one leaves at once, one at the end': [[1, [10, 10]]],
  'more than a stream holds': [[2, [10, 6000, 6000, 6000, 6000, 6000, 70_000, 10, 10]]],
};

for (const [name, turns] of Object.entries(cases)) {
  test(`${name}: the reported saving is the actual one`, async (t) => {
    const observation = observe();
    t.after(() => observation.stop());
    const sockets = await accepted(t, 5);
    await turnOver();
    const before = observation.report().writes;
    const play = async () => {
      for (const [count, sizes] of turns) {
        for (const socket of sockets.slice(0, count)) {
          for (const size of sizes) socket.write(text(size));
        }
        await turnOver();
      }
    };
    await play();
    const { writes, saved, turns: seen } = observation.report().writes;
    assert.equal(
      writes - before.writes,
      turns.reduce((sum, [n, each]) => sum + n * each.length, 0),
    );
    assert.equal(seen - before.turns, turns.length);
    const coalescers = sockets.map((socket) => coalesce(socket));
    await play();
    const truth = coalescers.reduce((sum, each) => {
      const { coalesced, flushes } = each.stats();
      return sum + coalesced - flushes;
    }, 0);
    assert.equal(saved - before.saved, truth);
  });
}

test('corked writes count as one write, as they are', async (t) => {
  const observation = observe();
  t.after(() => observation.stop());
  const [socket] = await accepted(t, 1);
  socket.cork();
  for (let i = 0; i < 5; i++) socket.write('a');
  socket.uncork();
  await turnOver();
  const { writes, saved, mostInTurn } = observation.report().writes;
  assert.deepEqual({ writes, saved, mostInTurn }, { writes: 1, saved: 0, mostInTurn: 1 });
});
