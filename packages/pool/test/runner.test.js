// The worker's side, in this thread: what it runs when, and what it keeps.
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { boardOf, ENDED, maxDefinitions, newBoard, RUNNING, STOPPING } from '../dist/protocol.cjs';
import { Runner } from '../dist/worker/runner.cjs';
import { repeat } from './support.js';

const file = fileURLToPath(new URL('runner-tasks.js', import.meta.url));

/** A runner, and the other end of its port. */
function newRunner(t, { concurrency = 1 } = {}) {
  const { port1, port2 } = new MessageChannel();
  const board = boardOf(newBoard());
  new Runner(port2, board, concurrency, 0);
  t.after(() => port1.close());
  const messages = on(port1, 'message');
  const ids = new Map();
  const idOf = (name) => ids.get(name) ?? ids.set(name, ids.size).get(name);
  let next = 0;
  return {
    board,
    /** Sends a batch; returns its first number. */
    send(name, tasks, { id = idOf(name), told = true } = {}) {
      const first = next;
      next += tasks.length;
      const definition = told ? [file, name] : null;
      port1.postMessage([first, id, tasks, null, false, definition, 0.5]);
      return first;
    },
    stop: (number) => port1.postMessage(number),
    /** What comes until so many tasks are answered: results, the errors among them; or a text. */
    async answers(count) {
      const all = [];
      while (all.length < count) {
        const { value } = await messages.next();
        const [message] = value;
        if (typeof message === 'string') return message;
        const [, results, failures] = message;
        const answers = [...results];
        for (const [index, , error] of failures ?? []) answers[index] = error;
        all.push(...answers);
      }
      return all;
    },
  };
}

const limit = { timeout: 300_000 };
const count = 120;
const inOne = (runner, name, tasks) => runner.send(name, tasks);
const inMany = (runner, name, tasks) => {
  for (const task of tasks) runner.send(name, [task]);
};

for (const name of ['spin', 'spinAsync']) {
  for (const [how, send] of Object.entries({ 'one message': inOne, 'many messages': inMany })) {
    test(
      `tasks of 1 ms, ${name}, in ${how}: timers get their turn between them`,
      limit,
      async (t) => {
        const runner = newRunner(t);
        const { state } = await import(file);
        runner.send(name, [0]);
        await runner.answers(1);
        Object.assign(state, { begun: 0, ticks: 0, most: 0 });
        const timer = setInterval(() => {
          state.ticks++;
          state.begun = 0;
        }, 1);
        t.after(() => clearInterval(timer));
        send(
          runner,
          name,
          repeat(count, () => 1),
        );
        await runner.answers(count);
        // About ten each.
        assert.ok(state.most <= 50, `${state.most} tasks without a timer, ${state.ticks} ticks`);
      },
    );
  }
}

test(
  'a context that is kept: what it says stays, and the next task in its place is left alone',
  limit,
  async (t) => {
    const runner = newRunner(t);
    const functions = await import(file);
    const { kept } = functions;
    const { words } = runner.board;
    const places = words.length;
    kept.length = 0;
    runner.send('keep', [false, true]);
    await runner.answers(2);
    const [unasked, asked] = kept;
    const { signal } = asked;
    // Others come into their places.
    for (let n = 2; n < places; n += 511) {
      const size = Math.min(511, places - n);
      runner.send('spin', Array(size).fill(0));
      await runner.answers(size);
    }
    words.fill(0, 0, 2);
    runner.send('wait', [0]);
    while (words[0] !== RUNNING) await new Promise(setImmediate);
    assert.equal(unasked.aborted, false);
    assert.equal(unasked.signal.aborted, false);
    assert.equal(words[0], RUNNING, 'the stranger does not listen');
    words[0] = STOPPING;
    assert.equal(unasked.aborted, false, 'nor is it the one that is told');
    // What comes too late is for nobody.
    for (const number of [0, 1, places]) runner.stop(number);
    functions.release();
    await runner.answers(1);
    assert.equal(words[0], ENDED);
    assert.equal(unasked.signal.aborted, false);
    assert.equal(asked.signal, signal, 'the signal that it had');
    assert.equal(signal.aborted, false);
  },
);

test('a task that was stopped goes on to say so when it has ended', limit, async (t) => {
  const runner = newRunner(t);
  const functions = await import(file);
  const { kept } = functions;
  kept.length = 0;
  const number = runner.send('waitAsked', [0]);
  while (kept.length === 0) await new Promise(setImmediate);
  runner.board.words[number] = STOPPING;
  runner.stop(number);
  const [context] = kept;
  while (!context.signal.aborted) await new Promise(setImmediate);
  functions.release();
  await runner.answers(1);
  assert.equal(context.aborted, true);
  assert.equal(context.signal.aborted, true);
});

test(
  'each task of a function that cannot be loaded fails with the reason, in every batch',
  limit,
  async (t) => {
    const runner = newRunner(t);
    runner.send('missing', [1, 2], { id: 1 });
    runner.send('missing', [3], { id: 1, told: false });
    for (const error of await runner.answers(3)) assert.match(error.message, /'missing'/);
    runner.send('missing', [4], { id: 1, told: false });
    runner.send('spin', [0], { id: 2 });
    const [error, result] = await runner.answers(2);
    assert.match(error.message, /'missing'/);
    assert.equal(result, 0);
  },
);

test(
  'it forgets what it was told when that is a lot, those that it still has to run excepted',
  limit,
  async (t) => {
    const runner = newRunner(t);
    for (let id = 0; id < maxDefinitions; id++) runner.send('spin', [0], { id });
    runner.send('spin', [0], { id: 0, told: false });
    assert.equal((await runner.answers(maxDefinitions + 1)).length, maxDefinitions + 1);
    runner.send('spinAsync', [0], { id: 1, told: false });
    runner.send('spin', [0], { id: maxDefinitions });
    runner.send('spin', [0], { id: maxDefinitions, told: false });
    assert.deepEqual(await runner.answers(3), [0, 0, 0]);
    // The main thread tells it again; if it does not, it is told that, and may give the tasks to another.
    runner.send('spin', [0], { id: 0 });
    assert.deepEqual(await runner.answers(1), [0]);
    runner.send('spin', [0], { id: 1, told: false });
    assert.match(await runner.answers(1), /cannot be read/);
  },
);
