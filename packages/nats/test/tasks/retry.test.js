import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TaskOperator } from '@millrace/nats/tasks';
import { unable } from '../nats.js';
import { eventually, repeat, setUp, tally } from './support.js';

const options = { skip: unable, timeout: 300_000 };

/** Lets clients know that the usual function is short, so that its tasks share messages. */
async function learn(calls) {
  await Promise.all(repeat(20, (n) => calls.run(`warm ${n}`)));
  await eventually(() => calls.meanMs() !== null);
}

describe('tasks that fail', { concurrency: 4 }, () => {
  test(
    'a task that fails is begun again after its back-off, and then rejects with its own error',
    options,
    async (t) => {
      const { open, worker, runs } = await setUp(t);
      const server = await worker({ attempts: 3, backoff: [10, 30] });
      const told = [];
      server.on('retry', ({ delivery, delayMs, error }) => told.push([delivery, delayMs, error]));
      server.on('dead', ({ delivery }) => told.push([delivery, 'dead']));
      const calls = open();
      assert.equal(await calls.run({ times: 2 }, { name: 'fail' }), 3);
      assert.deepEqual(told, [
        [1, 10, 'RangeError: not now'],
        [2, 30, 'RangeError: not now'],
      ]);
      const error = await calls.run({ times: 9 }, { name: 'fail' }).catch((error) => error);
      assert.ok(error instanceof RangeError);
      const { message, code, deliveries, cause, stack } = error;
      assert.deepEqual(
        { message, code, deliveries, cause },
        { message: 'not now', code: 'E_MINE', deliveries: 3, cause: 'why' },
      );
      assert.match(stack, /functions\.js/);
      assert.deepEqual(told.at(-1), [3, 'dead']);
      assert.deepEqual(
        runs().map(({ delivery }) => delivery),
        [1, 2, 3, 1, 2, 3],
      );
      await assert.rejects(calls.run({ times: 1 }, { name: 'fail', attempts: 1 }), {
        deliveries: 1,
      });
      await assert.rejects(calls.run(1, { name: 'nobody', attempts: 1 }), {
        code: 'MILLRACE_E_TASK_FILE',
      });
      assert.equal((await server.lag()).dead, 3);
    },
  );

  test('dead letters say why, can be put back, and run then', options, async (t) => {
    const { open, worker, server: broker, runs } = await setUp(t);
    const server = await worker({ attempts: 1 });
    const calls = open();
    const message = `${'long\nline ü '.repeat(200)}`;
    await calls.enqueue({ times: 1, message }, { name: 'fail', id: 'mine', priority: 'low' });
    await calls.enqueue({ times: 1 }, { name: 'fail' });
    await eventually(async () => (await server.lag()).dead === 2);
    const operator = new TaskOperator(broker.url, 'tests');
    t.after(() => operator.close());
    const letters = [];
    for await (const letter of operator.dead()) letters.push(letter);
    const [letter] = letters.filter(({ id }) => id === 'mine');
    const { name, priority, reason, error, deliveries } = letter;
    assert.deepEqual(
      { name, priority, reason, deliveries },
      { name: 'fail', priority: 'low', reason: 'failed', deliveries: 1 },
    );
    assert.match(error, /^RangeError: long line ü long/);
    // Twice: the second time they fail they are dead letters again, and none is lost as a duplicate.
    for (const round of [2, 3]) {
      assert.equal(await operator.retryDead(), 2);
      await eventually(() => runs().length === 2 * round);
      await eventually(async () => (await server.lag()).dead === 2);
    }
    assert.equal(letters.length, 2);
  });

  test('of a pack each task fails for itself', options, async (t) => {
    const { open, worker, runs } = await setUp(t);
    const server = await worker({ attempts: 2, maxThreads: 1 });
    const calls = open();
    await Promise.all(repeat(20, () => calls.run({ times: 0 }, { name: 'fail' })));
    await eventually(() => calls.meanMs('fail') !== null);
    const before = runs().length;
    const times = repeat(60, (n) => (n % 20 === 3 ? 9 : n % 20 === 4 ? 1 : 0));
    const settled = await Promise.allSettled(
      times.map((times) => calls.run({ times }, { name: 'fail' })),
    );
    assert.deepEqual(
      settled.map(({ status, value, reason }) => (status === 'fulfilled' ? value : reason.code)),
      times.map((times) => (times === 9 ? 'E_MINE' : times + 1)),
    );
    assert.equal(runs().length - before, 60 + 6);
    assert.equal((await server.lag()).dead, 3);
  });

  test(
    'a task that ends its process is found in its pack, and takes no other with it',
    options,
    async (t) => {
      const { open, process, worker, runs } = await setUp(t);
      const calls = open();
      const server = await worker();
      await learn(calls);
      await Promise.all(repeat(20, (n) => calls.run({ times: 0, n }, { name: 'fail' })));
      await server.close();
      // Its function looks as short as the others, so it shares a message with them.
      const before = runs().length;
      const stored = repeat(40, (n) => calls.enqueue(n));
      stored.push(calls.enqueue('poison', { name: 'poison', id: 'poison', attempts: 2 }));
      await Promise.all(stored);
      let deaths = 0;
      for (;;) {
        // It may die before it has said that it is ready.
        const settings = { maxThreads: 1, attempts: 2, ackWait: 3000 };
        const one = await process(settings).catch(() => null);
        let hasDied = one === null;
        one?.ends().then(() => {
          hasDied = true;
        });
        const isDone = async () =>
          (await one.ask({ do: 'stats' }).catch(() => null))?.dead === 1 &&
          tally(runs().slice(before), 40).lost.length === 0;
        await eventually(async () => hasDied || (await isDone()));
        if (!hasDied) break;
        deaths++;
      }
      // `attempts` + 1 of them.
      const poisoned = runs().filter(({ what }) => what === 'poison');
      assert.deepEqual([deaths, poisoned.length], [3, 3], JSON.stringify(poisoned));
      const last = await worker();
      await eventually(async () => {
        const { high, normal, low, alone } = await last.lag();
        return [high, normal, low, alone].every(
          ({ pending, unacknowledged }) => pending + unacknowledged === 0,
        );
      });
      assert.equal((await last.lag()).dead, 1);
    },
  );
});
