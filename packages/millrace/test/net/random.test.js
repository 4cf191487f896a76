/** Random programs of writes, corks and ends, run on a plain and on a coalesced socket: the same to be seen. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { arms, openPair, range, systemWrites, turn } from './pair.js';

/** Steps of a program: mostly writes, of sizes about the high-water mark too. */
function program(random, mark, withCorks) {
  const steps = range(40 + random(120)).map(() => {
    const kind = random(100);
    if (kind < 70) {
      const size = random(10) ? random(200) : random(2 * mark);
      return { write: size, text: random(2) === 0, callback: random(3) === 0 };
    }
    if (kind < 80) return { wait: 'turn' };
    if (kind < 84) return { wait: 'tick' };
    if (kind < 88) return { wait: 'job' };
    if (kind < 90) return { wait: 'drain' };
    return withCorks ? { cork: random(2) === 0 } : { write: 1 };
  });
  return [...steps, { end: ['end', 'end with', 'destroy', 'destroySoon'][random(4)] }];
}

const waits = {
  turn,
  tick: () => new Promise((resolve) => process.nextTick(resolve)),
  job: () => null,
};

async function run(steps, { socket, peer, received }, writesOut) {
  const returned = [];
  const called = [];
  let drains = 0;
  let corks = 0;
  socket.on('drain', () => drains++);
  peer.on('error', () => {});
  let n = 0;
  for (const step of steps) {
    if (step.write !== undefined) {
      const mine = n++;
      const chunk = Buffer.alloc(step.write, 1 + (mine % 120));
      const callback = step.callback ? (error) => called.push([mine, error?.code]) : undefined;
      returned.push(socket.write(step.text ? chunk.toString('latin1') : chunk, callback));
    } else if (step.wait === 'drain') {
      if (socket.writableNeedDrain && corks === 0) await once(socket, 'drain');
    } else if (step.wait) {
      await waits[step.wait]();
    } else if (step.cork) {
      corks++;
      socket.cork();
    } else if (step.cork === false) {
      corks = Math.max(0, corks - 1);
      socket.uncork();
    } else {
      // What an application's own cork keeps is lost by destroy(), with or without us.
      while (corks-- > 0) socket.uncork();
      const closed = once(socket, 'close');
      if (step.end === 'end with') socket.end('last');
      else socket[step.end]();
      assert.equal(await received.ended, 'end');
      peer.end();
      await closed;
    }
  }
  assert.equal(socket.writableCorked, 0);
  return { returned, drains, called, bytes: received.bytes(), calls: writesOut.length };
}

for (const withCorks of [false, true]) {
  test(`random programs ${withCorks ? 'with corks' : 'without corks'}`, async (t) => {
    for (const seed of seeds(30)) {
      const random = randomNumbers(seed);
      const mark = [1024, 16 * 1024][random(2)];
      const steps = program(random, mark, withCorks);
      const results = {};
      for (const [name, arm] of Object.entries(arms)) {
        const pair = await openPair(t, { side: 'server', highWaterMark: mark });
        arm(pair.socket);
        results[name] = await run(steps, pair, systemWrites(pair.socket));
      }
      const { plain, coalesced } = results;
      const message = `seed ${seed}`;
      assert.ok(coalesced.bytes.equals(plain.bytes), message);
      assert.deepEqual(coalesced.called, plain.called, message);
      assert.ok(coalesced.calls <= plain.calls, message);
      // What a cork gathers and what is held count together, so that there the marks differ.
      if (withCorks) continue;
      assert.deepEqual(coalesced.returned, plain.returned, message);
      assert.equal(coalesced.drains, plain.drains, message);
    }
  });
}
