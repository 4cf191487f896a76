// A call with an id whose task is sent again, as its answer was lost with the connection: it ends, whatever became of the task.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { unable } from '../nats.js';
import { proxy } from '../proxy.js';
import { eventually, setUp } from './support.js';

const options = { skip: unable, timeout: 300_000 };
const id = 'one';
const lost = {
  code: 'MILLRACE_E_DUPLICATE',
  message: /a task of the id "one" was stored before/,
};

/** A client that the broker hears and that hears nothing, until its connection is cut and comes back. */
async function setUpMute(t, first = {}, before = () => {}) {
  const { open, server, ...rest } = await setUp(t);
  const way = await proxy(t, server.port);
  const calls = open({ broker: way.url });
  await before({ calls, ...rest });
  await calls.enqueue('first', first);
  way.mute();
  const { sent } = calls.stats().link;
  const reconnect = async () => {
    await eventually(() => calls.stats().link.sent > sent);
    way.cut();
    way.heal();
    await eventually(() => calls.stats().resent > 0);
  };
  return { ...rest, open, calls, reconnect };
}

const isDone = async (server) => {
  const { normal, alone } = await server.lag();
  return [normal, alone].every(({ pending, unacknowledged }) => pending + unacknowledged === 0);
};

describe('run() with an id, sent twice', { concurrency: 4 }, () => {
  test('its task is done, and its result given up meanwhile', options, async (t) => {
    const { worker, runs, calls, reconnect } = await setUpMute(t);
    const server = await worker({ replyTimeout: 300 });
    const refused = assert.rejects(calls.run(1, { id }), lost);
    await eventually(() => server.stats().results.givenUp === 1);
    await eventually(() => isDone(server));
    await reconnect();
    await refused;
    assert.equal(runs().length, 2);
    assert.equal(calls.stats().duplicates, 1);
  });

  test('somebody else had stored it before, and it is done', options, async (t) => {
    const { open, worker, runs, calls, reconnect } = await setUpMute(t);
    const server = await worker();
    assert.equal(await open().run(2, { id }), 2);
    await eventually(() => isDone(server));
    const refused = assert.rejects(calls.run(3, { id }), lost);
    await reconnect();
    await refused;
    assert.equal(runs().length, 2);
  });

  test('somebody else had stored it before, and it waits', options, async (t) => {
    const { open, calls, worker, reconnect } = await setUpMute(t);
    const theirs = open();
    const first = theirs.run(2, { id });
    await eventually(() => theirs.stats().stored === 1);
    const refused = assert.rejects(calls.run(3, { id }), lost);
    await reconnect();
    await refused;
    await worker();
    assert.equal(await first, 2);
  });

  test('the same client had only stored it, and nobody waits for it', options, async (t) => {
    const { worker, runs, calls, reconnect } = await setUpMute(t, { id });
    const refused = assert.rejects(calls.run(1, { id }), lost);
    await reconnect();
    await refused;
    await worker();
    await eventually(() => runs().length === 1);
  });

  test('its task waits to be tried again: the call gets its result', options, async (t) => {
    const { worker, calls, reconnect } = await setUpMute(t);
    const server = await worker({ backoff: 3000 });
    const retried = new Promise((resolve) => server.once('retry', resolve));
    const call = calls.run({ times: 1 }, { name: 'fail', id });
    await retried;
    await reconnect();
    assert.equal(await call, 2);
    assert.equal(calls.stats().duplicates, 0);
  });

  test(
    'its result is given up, and a task of the same message waits to be tried again',
    options,
    async (t) => {
      const { worker, calls, reconnect } = await setUpMute(t, {}, async ({ calls, worker }) => {
        const learning = await worker();
        const pair = () => [calls.run(1), calls.run({ times: 0 }, { name: 'fail' })];
        // Once it is known that they are short they go together.
        await eventually(async () => {
          await Promise.all(pair());
          return calls.stats().meanBatch > 1;
        });
        await learning.close();
      });
      // The second result has to be confirmed within the first time, and to come after it.
      const server = await worker({ replyTimeout: 2000, backoff: 8000 });
      const retried = new Promise((resolve) => server.once('retry', resolve));
      const again = calls.run({ times: 1 }, { name: 'fail' });
      const refused = assert.rejects(calls.run(1), { code: 'MILLRACE_E_DUPLICATE' });
      await retried;
      await eventually(() => server.stats().results.givenUp === 1);
      await reconnect();
      await refused;
      assert.equal(await again, 2);
    },
  );

  test('its task runs: the call gets its result', options, async (t) => {
    const { worker, runs, folder, calls, reconnect } = await setUpMute(t);
    await worker();
    const file = join(folder, 'go');
    const call = calls.run(file, { name: 'until', id });
    await eventually(() => runs().length === 2);
    await reconnect();
    writeFileSync(file, '');
    assert.equal(await call, 'done');
  });
});
