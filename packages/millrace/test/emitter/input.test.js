// Bad input: one table. Each is refused with an error that names option, value and allowed range; nothing changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter, MillraceError } from 'millrace';
import { turn } from './helper.js';

const notNumbers = [Number.NaN, '1', null, true, [], {}, 1n, () => 1];
const most = (max) => (max === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : max);
const integer = (min, max) => ({
  good: [min, max],
  bad: [min - 1, max + 1, 1.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, ...notNumbers],
  range: `an integer from ${min} to ${most(max)}`,
});
const number = (min, max) => ({
  good: [min, max, min + 0.5],
  bad: [min - 0.001, max + 0.001, Number.POSITIVE_INFINITY, ...notNumbers],
  range: `a number from ${min} to ${max}`,
});
const choice = (...values) => ({
  good: values,
  bad: ['', 'other', values[0].toUpperCase(), [values[0]], null, 0, true, Symbol('s'), {}],
  range: values.map((value) => `'${value}'`).join(', '),
});
const fn = { good: [() => 0], bad: [null, 1, 'f', {}, true, Symbol('s')], range: 'a function' };

const queue = {
  policy: choice('direct', 'fixed', 'adaptive'),
  order: choice('arrival', 'type'),
  maxBatch: integer(1, 1_000_000),
  maxDelay: number(0, 60_000),
  threshold: integer(0, 1_000_000),
  hold: choice('tuned', 'always'),
  maxQueue: integer(1, 100_000_000),
  maxQueueBytes: {
    ...integer(1, Number.MAX_SAFE_INTEGER),
    bad: [0, -1, 2 ** 53, 1.5, ...notNumbers],
  },
  maxDeferral: number(0, 3_600_000),
};
const retain = {
  replay: choice('first', 'each'),
  max: integer(1, 1_000_000),
  maxBytes: { ...integer(1, Number.MAX_SAFE_INTEGER), bad: [0, -1, 2 ** 53, 1.5, ...notNumbers] },
  maxAge: number(1, 2_147_483_647),
};
const own = {
  isolation: choice('batch', 'event'),
  context: choice('auto', 'on', 'off'),
  captureRejections: { good: [true, false], bad: [null, 0, 'true', {}], range: 'true or false' },
  size: fn,
  onLost: fn,
};
const ofType = {
  priority: choice('high', 'normal', 'low'),
  maxBatch: {
    ...queue.maxBatch,
    bad: queue.maxBatch.bad.filter((value) => value !== Number.POSITIVE_INFINITY),
  },
  size: fn,
};

/** What an emitter that has something queued does with one option, and how its message spells the option. */
const places = [
  ['new BatchEmitter', (_e, option) => new BatchEmitter(option), { ...queue, ...own }],
  ['set', (e, option) => e.set(option), queue],
  ['configure', (e, option) => e.configure('x', option), ofType],
  ['new BatchEmitter, retain.', (_e, option) => new BatchEmitter({ retain: option }), retain],
  ['configure, retain.', (e, option) => e.configure('x', { retain: option }), retain],
  ['push', (e, option) => e.push('x', [1], option).cancel(), { priority: ofType.priority }],
];

/** How a message shows a value: enough to recognise it. */
function shown(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

for (const [place, apply, options] of places) {
  for (const [name, { good, bad, range }] of Object.entries(options)) {
    test(`${place} ${name}: ${range}`, async () => {
      const got = [];
      const e = new BatchEmitter({ maxDelay: 1, retain: true });
      e.on('x', (n) => got.push(n));
      e.emit('x', 'kept');
      const before = e.stats();
      for (const value of bad) {
        assert.throws(
          () => apply(e, { [name]: value }),
          (error) => {
            assert.ok(error instanceof MillraceError, `${error.stack}`);
            assert.equal(error.code, 'MILLRACE_E_INVALID_OPTION');
            for (const part of [name, shown(value), range]) {
              assert.ok(error.message.includes(part), `"${error.message}" names "${part}"`);
            }
            return true;
          },
          `${name}: ${shown(value)} is accepted`,
        );
      }
      assert.deepEqual(e.stats(), before);
      for (const value of good) assert.doesNotThrow(() => apply(e, { [name]: value }));
      assert.doesNotThrow(() => apply(e, { [name]: undefined }));
      e.close();
      await turn();
      assert.deepEqual(got, ['kept']);
    });
  }
}

for (const [place, apply] of [
  ['BatchEmitter', (_e, options) => new BatchEmitter(options)],
  ['BatchEmitter.set()', (e, options) => e.set(options)],
  ['BatchEmitter.configure()', (e, options) => e.configure('x', options)],
  ['BatchEmitter.push()', (e, options) => e.push('x', [], options)],
  ['BatchEmitter.close()', (e, options) => e.close(options)],
]) {
  test(`${place}: an object with known keys`, () => {
    const e = new BatchEmitter();
    for (const bad of [null, 1, 'text', [], () => {}, true]) {
      assert.throws(() => apply(e, bad), {
        code: 'MILLRACE_E_INVALID_OPTION',
        message: new RegExp(
          `^${place.replace(/[().]/g, '\\$&')}: 'options' is .*; it must be an object; `,
        ),
      });
    }
    assert.throws(() => apply(e, { maxbatch: 1 }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /unknown option 'maxbatch'.*known are /,
    });
    assert.equal(e.emit('x'), true, 'still open');
    assert.equal(e.queued(), 1);
  });
}

test('retain: true, false, or an object with known keys', () => {
  const e = new BatchEmitter();
  for (const bad of [null, 1, 'first', [], () => {}]) {
    for (const apply of [
      () => new BatchEmitter({ retain: bad }),
      () => e.configure('x', { retain: bad }),
    ]) {
      assert.throws(apply, { code: 'MILLRACE_E_INVALID_OPTION', message: /'retain'/ });
    }
  }
  const said = `BatchEmitter: 'retain' is "yes"; it must be true or false, or an object`;
  assert.throws(() => new BatchEmitter({ retain: 'yes' }), { message: said });
  assert.throws(
    () => new BatchEmitter({ retain: { maxage: 1 } }),
    /unknown option 'retain.maxage'/,
  );
});

test('close: discard is true or false', () => {
  const e = new BatchEmitter({ onLost: () => assert.fail('nothing is discarded') });
  e.emit('x');
  for (const bad of [null, 1, 'yes', {}]) {
    assert.throws(() => e.close({ discard: bad }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /'discard'.*true or false/,
    });
  }
  assert.equal(e.queued(), 1);
  e.close({ discard: undefined });
  assert.equal(e.stats().unhandled, 1);
});

test('push: arguments are an array, and bytes a size', () => {
  const e = new BatchEmitter();
  for (const bad of [undefined, null, 1, 'text', {}, new Set()]) {
    assert.throws(() => e.push('x', bad), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /push\('type', \[value\]\)/,
    });
  }
  for (const bytes of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null, 2 ** 53]) {
    assert.throws(() => e.push('x', [], { bytes }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /'bytes' is .*; it must be an integer from 0 to 2\^53 - 1 bytes/,
    });
  }
  assert.equal(e.queued(), 0);
});

test('types that are always synchronous are not queued, configured or given batch handlers', () => {
  const e = new BatchEmitter();
  for (const type of ['error', 'newListener', 'removeListener']) {
    for (const apply of [
      () => e.push(type, [1]),
      () => e.configure(type, { priority: 'high' }),
      () => e.onBatch(type, () => {}),
    ]) {
      assert.throws(apply, { code: 'MILLRACE_E_INVALID_ARGUMENT', message: /always synchronous/ });
    }
  }
  assert.throws(() => e.emit('error', new Error('still thrown')), /still thrown/);
});

test('onBatch and offBatch take a function', () => {
  const e = new BatchEmitter();
  e.onBatch('x', () => {});
  for (const bad of [undefined, null, 1, 'f', {}]) {
    assert.throws(() => e.onBatch('x', bad), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /batch handler/,
    });
    if (bad === undefined) continue;
    assert.throws(() => e.offBatch('x', bad), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /batch handler/,
    });
  }
});

test('a bad option among good ones changes none of them', async () => {
  const sizes = [];
  const e = new BatchEmitter();
  e.onBatch('x', (items) => sizes.push(items.length));
  assert.throws(() => e.set({ maxBatch: 1, maxDelay: -1 }));
  assert.throws(() => e.configure('x', { maxBatch: 1, retain: { max: 0 } }));
  assert.throws(() => e.configure('x', { maxBatch: 1, priority: 'urgent' }));
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(sizes, [2]);
});

test('a message shows long and strange values briefly', () => {
  for (const policy of [
    'p'.repeat(10_000),
    Object.create(null),
    new Proxy({}, {}),
    Symbol('s'),
    new Array(9999),
  ]) {
    assert.throws(
      () => new BatchEmitter({ policy }),
      (error) => error.code === 'MILLRACE_E_INVALID_OPTION' && error.message.length < 200,
    );
  }
});
