// A listener that fails spoils its own event and nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { child, recorder, turn, uncaught } from './helper.js';

test('the rest of the batch is delivered; only the remaining listeners of the event are skipped', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('error', (error) => log.push(error.message));
  e.on('x', on('first'));
  e.on('x', (n) => {
    if (n === 2) throw new Error('two');
  });
  e.on('x', on('third'));
  for (const n of [1, 2, 3]) e.emit('x', n);
  await turn();
  assert.deepEqual(log, [
    ['first', 1],
    ['third', 1],
    ['first', 2],
    'two',
    ['first', 3],
    ['third', 3],
  ]);
  const { delivered, errors } = e.stats();
  assert.deepEqual({ delivered, errors }, { delivered: 3, errors: 1 });
});

test("without an 'error' listener the failure is an uncaught exception, after the batch", async () => {
  const log = [];
  const e = new BatchEmitter();
  const [one, three] = [new Error('one'), 'not even an error'];
  e.on('x', (n) => {
    log.push(n);
    if (n === 1) throw one;
    if (n === 3) throw three;
  });
  const errors = await uncaught(async () => {
    for (const n of [1, 2, 3, 4]) e.emit('x', n);
    await turn();
    await turn();
  });
  assert.deepEqual(log, [1, 2, 3, 4]);
  assert.deepEqual(errors, [one, three]);
});

test("an 'error' listener that throws is an uncaught exception, after the batch", async () => {
  const log = [];
  const e = new BatchEmitter();
  e.on('error', () => {
    throw new Error('second');
  });
  e.on('x', (n) => {
    log.push(n);
    throw new Error('first');
  });
  const errors = await uncaught(async () => {
    e.emit('x', 1);
    e.emit('x', 2);
    await turn();
    await turn();
  });
  assert.deepEqual(log, [1, 2]);
  assert.deepEqual(
    errors.map(({ message }) => message),
    ['second', 'second'],
  );
});

test('an uncaught failure ends the process with code 1, with the listener in its stack', async () => {
  const { code, lines, stderr } = await child(`
    import { BatchEmitter } from 'millrace';
    const e = new BatchEmitter();
    e.on('x', function failing(n) {
      console.log(n);
      if (n === 1) throw new Error('nobody catches this');
    });
    e.emit('x', 1);
    e.emit('x', 2);
  `);
  assert.equal(code, 1);
  assert.deepEqual(lines, ['1', '2']);
  assert.match(stderr, /nobody catches this/);
  assert.match(stderr, /failing/);
});

test('promise jobs of the batch, and batches of other emitters of the turn, come before it', async () => {
  const { code, lines } = await child(`
    import { BatchEmitter } from 'millrace';
    const [e, f] = [new BatchEmitter(), new BatchEmitter()];
    e.on('x', (n) => {
      if (n === 1) throw new Error('nobody catches this');
      Promise.resolve().then(() => console.log('goes on'));
    });
    f.on('y', () => console.log('another'));
    e.emit('x', 1);
    e.emit('x', 2);
    f.emit('y');
  `);
  assert.equal(code, 1);
  assert.deepEqual(lines, ['goes on', 'another']);
});

test("an 'error' listener may emit, and close", async () => {
  const log = [];
  const e = new BatchEmitter();
  e.on('error', (error) => {
    e.emit('y', error.message);
    e.close();
  });
  e.on('y', (message) => log.push(message));
  e.on('x', () => {
    throw new Error('bad');
  });
  e.emit('x');
  await turn();
  assert.deepEqual(log, ['bad']);
  assert.throws(() => e.emit('y'), { code: 'MILLRACE_E_CLOSED' });
});

test('asynchronous listeners are not awaited', async () => {
  const log = [];
  const e = new BatchEmitter();
  e.on('x', async (n) => {
    log.push(`start ${n}`);
    await null;
    log.push(`end ${n}`);
  });
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(log, ['start 1', 'start 2', 'end 1', 'end 2']);
});
