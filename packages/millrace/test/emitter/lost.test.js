// onLost: told of each accepted event that ended without a handler because of a bound or a close.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter, MillraceError } from 'millrace';
import { child, turn, uncaught } from './helper.js';

function losing(options) {
  const lost = [];
  const e = new BatchEmitter({
    onLost: (error, type, args) => {
      assert.ok(error instanceof MillraceError);
      lost.push([error.code, type, ...args]);
    },
    ...options,
  });
  return { e, lost };
}

test('a full retention refuses the newest', async () => {
  const { e, lost } = losing({ retain: { max: 2 } });
  for (const n of [1, 2, 3, 4]) e.emit('x', n);
  await turn();
  assert.deepEqual(lost, [
    ['MILLRACE_E_RETENTION', 'x', 3],
    ['MILLRACE_E_RETENTION', 'x', 4],
  ]);
  const got = [];
  e.on('x', (n) => got.push(n));
  await turn();
  assert.deepEqual(got, [1, 2]);
  assert.equal(e.stats().refused.retention, 2);
});

test('a retention that is full by bytes refuses what does not fit, and takes what does', async () => {
  const { e, lost } = losing({ retain: { maxBytes: 10 }, size: (_type, [text]) => text.length });
  for (const text of ['123456', '12345', '1234']) e.emit('x', text);
  await turn();
  assert.deepEqual(lost, [['MILLRACE_E_RETENTION', 'x', '12345']]);
  assert.equal(e.stats().retained.bytes, 10);
});

test('close lets what is retained expire, oldest first', async () => {
  const { e, lost } = losing({ retain: true });
  e.emit('x', 1);
  e.emit('y', 2);
  e.emit('x', 3);
  await turn();
  e.close();
  assert.deepEqual(lost, [
    ['MILLRACE_E_EXPIRED', 'x', 1],
    ['MILLRACE_E_EXPIRED', 'y', 2],
    ['MILLRACE_E_EXPIRED', 'x', 3],
  ]);
});

test('close({ discard: true }) gives MILLRACE_E_CANCELLED for each queued event', () => {
  const { e, lost } = losing();
  e.on('x', () => assert.fail('not delivered'));
  e.emit('x', 1);
  e.emit('x', 2, 'b');
  e.close({ discard: true });
  assert.deepEqual(lost, [
    ['MILLRACE_E_CANCELLED', 'x', 1],
    ['MILLRACE_E_CANCELLED', 'x', 2, 'b'],
  ]);
});

test('an event without a listener where nothing retains is not lost: it was delivered to nobody', async () => {
  const { e, lost } = losing();
  e.emit('x');
  await turn();
  assert.deepEqual(lost, []);
});

test('an onLost that throws is an uncaught exception, and nothing else suffers', async () => {
  const e = new BatchEmitter({
    retain: { max: 1 },
    onLost: (error) => {
      throw new Error(`about ${error.code}`);
    },
  });
  const got = [];
  e.on('y', (n) => got.push(n));
  const errors = await uncaught(async () => {
    for (const n of [1, 2, 3]) e.emit('x', n);
    e.emit('y', 4);
    await turn();
    await turn();
  });
  assert.deepEqual(
    errors.map(({ message }) => message),
    ['about MILLRACE_E_RETENTION', 'about MILLRACE_E_RETENTION'],
  );
  assert.deepEqual(got, [4]);
});

test('an onLost may emit, register, cancel and close', async () => {
  const seen = [];
  const handles = [];
  const e = new BatchEmitter({
    retain: true,
    onLost: (error, type, args) => {
      seen.push([error.code, ...args]);
      handles[2].cancel();
      e.on('y', (n) => seen.push(['y', n]));
      assert.throws(() => e.emit('y', 1), { code: 'MILLRACE_E_CLOSED' });
      e.close();
    },
  });
  for (const n of [1, 2, 3]) handles.push(e.push('x', [n]));
  await turn();
  e.close();
  assert.deepEqual(seen, [
    ['MILLRACE_E_EXPIRED', 1],
    ['MILLRACE_E_EXPIRED', 2],
  ]);
  const { cancelled, retained } = e.stats();
  assert.deepEqual([cancelled, retained.expired, retained.count], [1, 2, 0]);
});

test('by default there is one process warning for each type and code', async () => {
  const { stderr, lines } = await child(`
    import { BatchEmitter } from 'millrace';
    const e = new BatchEmitter({ retain: { max: 1 } });
    process.on('warning', (w) => console.log(w.name, w.code, w.message));
    for (const type of ['x', 'x', 'x', 'y', 'y', 'x']) e.emit(type);
    setImmediate(() => {
      e.close();
    });
  `);
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
    [
      'MillraceWarning MILLRACE_E_RETENTION',
      'MillraceWarning MILLRACE_E_RETENTION',
      'MillraceWarning MILLRACE_E_EXPIRED',
      'MillraceWarning MILLRACE_E_EXPIRED',
    ],
  );
  assert.match(lines[0], /"x".*retain\.max/);
  assert.match(stderr, /MillraceWarning/);
});

test('warnings about made-up names do not add up', async () => {
  const { lines } = await child(`
    import { BatchEmitter } from 'millrace';
    const e = new BatchEmitter({ retain: true });
    let warnings = 0;
    process.on('warning', () => warnings++);
    const count = 20000;
    for (let i = 0; i < count; i++) e.emit('name ' + i);
    const wait = () => (e.queued() > 0 ? setImmediate(wait) : end());
    const end = () => {
      e.close();
      setImmediate(() => console.log(e.stats().retained.expired, warnings < 2000));
    };
    wait();
  `);
  assert.deepEqual(lines, ['20000 true']);
});
