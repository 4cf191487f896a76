// A client that was away for longer than a worker keeps its result, and comes back: no call waits for ever.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { unable } from '../nats.js';
import { proxy } from '../proxy.js';
import { managerOf, rawTo } from '../raw.js';
import { eventually, setUp } from './support.js';

const options = { skip: unable, timeout: 300_000 };
const lost = { code: 'MILLRACE_E_RESULT_LOST', message: /is done or a dead letter.*given up/ };

/** A client whose connection can be cut. */
async function setUpAway(t) {
  const { server, open, ...rest } = await setUp(t);
  const way = await proxy(t, server.port);
  const calls = open({ broker: way.url });
  await calls.enqueue('first');
  const stored = (count) => eventually(() => calls.stats().stored >= count);
  const away = async () => {
    way.cut();
    await eventually(() => calls.stats().link.state === 'down');
  };
  const purge = async () => {
    const { streams } = await managerOf(await rawTo(t, server));
    await streams.purge('millrace_tasks_tests');
  };
  return { ...rest, calls, stored, away, back: () => way.heal(), purge };
}

describe('a client that was away', { concurrency: 4 }, () => {
  test('its result was given up: the call is rejected', options, async (t) => {
    const { worker, folder, runs, calls, stored, away, back } = await setUpAway(t);
    const server = await worker({ replyTimeout: 300 });
    const file = join(folder, 'go');
    const refused = assert.rejects(calls.run(file, { name: 'until' }), lost);
    await stored(2);
    await eventually(() => runs().length === 2);
    await away();
    writeFileSync(file, '');
    await eventually(() => server.stats().results.givenUp === 1);
    back();
    await refused;
    assert.equal(calls.stats().running, 0);
    // One that keeps results for longer.
    await server.close();
    await worker();
    assert.equal(await calls.run(3), 3);
  });

  test(
    'its task waits, runs, or waits to be tried again: the call gets its result',
    options,
    async (t) => {
      const { worker, folder, runs, calls, stored, away, back } = await setUpAway(t);
      const file = join(folder, 'go');
      const results = Promise.all([
        calls.run(file, { name: 'until' }),
        calls.run({ times: 1 }, { name: 'fail', id: 'again' }),
        calls.run(2, { id: 'waits' }),
      ]);
      await stored(4);
      const server = await worker({ backoff: 1500, concurrentTasksPerWorker: 3 });
      await new Promise((resolve) => server.once('retry', resolve));
      await eventually(() => runs().length >= 2);
      await away();
      back();
      await eventually(() => calls.stats().link.reconnects === 1);
      writeFileSync(file, '');
      assert.deepEqual(await results, ['done', 2, 2]);
    },
  );

  test('of the tasks of one message each has what is its own', options, async (t) => {
    const { worker, calls, stored, away, back } = await setUpAway(t);
    const learning = await worker();
    const pair = (times) => [calls.run(1), calls.run({ times }, { name: 'fail' })];
    // Once it is known that they are short they go together.
    await eventually(async () => {
      await Promise.all(pair(0));
      return calls.stats().meanBatch > 1;
    });
    await learning.close();
    const before = calls.stats().stored;
    const [given, again] = pair(1);
    const refused = assert.rejects(given, lost);
    await stored(before + 1);
    await away();
    // The second result has to be confirmed within the first time, and to come after it.
    const server = await worker({ replyTimeout: 2000, backoff: 8000 });
    await eventually(() => server.stats().results.givenUp === 1);
    back();
    await refused;
    assert.equal(await again, 2);
  });

  test(
    'its task was taken out of the stream by hand: the call is rejected, too',
    options,
    async (t) => {
      const { calls, stored, away, back, purge } = await setUpAway(t);
      const refused = assert.rejects(calls.run(1), lost);
      await stored(2);
      await away();
      await purge();
      back();
      await refused;
    },
  );
});
