// Conflation: events with a key. What engines have in common is in conformance/vectors/conflation.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, test } from 'node:test';
import { BatchEmitter } from '../../dist/index.js';
import { recorder, turn } from './helper.js';

function emitter(options) {
  const e = new BatchEmitter(options);
  const { log, on } = recorder();
  e.on('x', on('x'));
  return { e, values: () => log.map(([, value]) => value), log };
}

describe('key', () => {
  test('gives a newer event the place of the queued one', async () => {
    const { e, values } = emitter();
    e.push('x', [1], { key: 'a' });
    e.push('x', [2], { key: 'b' });
    e.push('x', [3]);
    e.push('x', [4], { key: 'a' });
    assert.equal(e.queued(), 3);
    await turn();
    assert.deepEqual(values(), [4, 2, 3]);
    const { superseded, pushed, delivered } = e.stats();
    assert.deepEqual({ superseded, pushed, delivered }, { superseded: 1, pushed: 4, delivered: 3 });
  });

  test('is any value but undefined, compared as in a Map', async () => {
    const { e, values } = emitter();
    const keys = [null, false, 0, '', Number.NaN, 1n, 'k', Symbol('k'), {}, () => {}, Infinity];
    for (const key of keys) e.push('x', ['old'], { key });
    for (const key of keys) e.push('x', ['new'], { key });
    e.push('x', ['minus zero'], { key: -0 });
    e.push('x', ['none'], { key: undefined });
    e.push('x', ['none'], { key: undefined });
    assert.equal(e.queued(), keys.length + 2);
    await turn();
    const wanted = keys.map((key) => (key === 0 ? 'minus zero' : 'new'));
    assert.deepEqual(values(), [...wanted, 'none', 'none']);
  });

  test('cancel of a superseded event is false, that of the newer one true', async () => {
    const { e, values } = emitter();
    const first = e.push('x', [1], { key: 'k' });
    const second = e.push('x', [2], { key: 'k' });
    assert.equal(first.cancel(), false);
    assert.equal(e.queued(), 1);
    assert.equal(second.cancel(), true);
    assert.equal(e.queued(), 0);
    await turn();
    assert.deepEqual(values(), []);
  });

  test('a superseded event is no loss: onLost is not told of it', async () => {
    const lost = [];
    const { e } = emitter({ onLost: (error) => lost.push(error) });
    e.push('x', [1], { key: 'k' });
    e.push('x', [2], { key: 'k' });
    await turn();
    assert.deepEqual(lost, []);
  });

  test('a handler sees the context of the newer push', async () => {
    const storage = new AsyncLocalStorage();
    const e = new BatchEmitter();
    const seen = [];
    e.on('x', () => seen.push(storage.getStore()));
    storage.run('older', () => e.push('x', [1], { key: 'k' }));
    storage.run('newer', () => e.push('x', [2], { key: 'k' }));
    await turn();
    assert.deepEqual(seen, ['newer']);
  });

  test('keys are bounded as events are', async () => {
    const { e, values } = emitter({ maxQueue: 3 });
    for (const key of ['a', 'b', 'c']) e.push('x', [key], { key });
    assert.throws(() => e.push('x', ['d'], { key: 'd' }), { code: 'MILLRACE_E_OVERLOADED' });
    e.push('x', ['b again'], { key: 'b' });
    await turn();
    assert.deepEqual(values(), ['a', 'b again', 'c']);
  });

  test('keeps its place when cancelled events around it are moved out of the way', async () => {
    const { e, values } = emitter();
    const others = [];
    for (let n = 0; n < 300; n++) {
      others.push(e.push('x', [n]));
      if (n % 100 === 50) e.push('x', ['old'], { key: n });
    }
    for (const [n, one] of others.entries()) if (n % 50 !== 0) one.cancel();
    for (const key of [250, 150, 50]) e.push('x', [key + 0.5], { key });
    await turn();
    assert.deepEqual(values(), [0, 50, 50.5, 100, 150, 150.5, 200, 250, 250.5]);
  });

  test('an event is delivered in the order by type at the older one’s place', async () => {
    const e = new BatchEmitter({ order: 'type' });
    const log = [];
    for (const type of ['x', 'y']) e.on(type, (value) => log.push(`${type}${value}`));
    e.push('x', [1], { key: 'k' });
    e.push('y', [2], { key: 'k' });
    e.push('x', [3]);
    e.push('x', [4], { key: 'k' });
    await turn();
    assert.deepEqual(log, ['x4', 'x3', 'y2']);
  });
});

describe('merge', () => {
  test('gives the data of the event that stands for both', async () => {
    const { e, values } = emitter();
    e.configure('x', { merge: (older, newer) => older + newer });
    for (const value of [1, 2, 4]) e.push('x', [value], { key: 'k' });
    await turn();
    assert.deepEqual(values(), [7]);
    assert.equal(e.stats().superseded, 2);
  });

  test('gets and returns lists where an event has several arguments', async () => {
    const e = new BatchEmitter();
    const log = [];
    e.on('x', (...args) => log.push(args));
    e.configure('x', { merge: ([a], [b, unit]) => [a + b, unit] });
    e.push('x', [1, 'ms'], { key: 'k' });
    e.push('x', [2, 's'], { key: 'k' });
    await turn();
    assert.deepEqual(log, [[3, 's']]);
  });

  test('passes arrays, NaN and undefined through as data', async () => {
    const { e, values } = emitter();
    e.configure('x', {
      merge: (older, newer) => (Array.isArray(newer) ? [...older, ...newer] : newer),
    });
    e.push('x', [[1]], { key: 'list' });
    e.push('x', [[2]], { key: 'list' });
    e.push('x', [1], { key: 'nan' });
    e.push('x', [Number.NaN], { key: 'nan' });
    e.push('x', [1], { key: 'none' });
    e.push('x', [undefined], { key: 'none' });
    await turn();
    assert.deepEqual(values(), [[1, 2], Number.NaN, undefined]);
  });

  test('asks the size function for the size of the combined event', async () => {
    const e = new BatchEmitter({ size: (_type, [text]) => text.length });
    e.configure('x', { merge: (older, newer) => older + newer });
    e.push('x', ['abc'], { key: 'k' });
    e.push('x', ['de'], { key: 'k' });
    assert.equal(e.stats().bytes, 5);
    e.flush();
    assert.equal(e.stats().bytes, 0);
  });

  test('leaves both events when it throws, and reports the error', async () => {
    const { e, values } = emitter();
    const errors = [];
    e.on('error', (error) => errors.push(error.message));
    const merge = () => {
      throw new Error('no');
    };
    e.configure('x', { merge });
    e.push('x', [1], { key: 'k' });
    e.push('x', [2], { key: 'k' });
    assert.deepEqual(errors, ['no']);
    e.configure('x', { merge: false });
    e.push('x', [3], { key: 'k' });
    await turn();
    assert.deepEqual(values(), [1, 3]);
    assert.equal(e.stats().errors, 1);
  });

  test('must return a list for an event of several arguments', async () => {
    const e = new BatchEmitter();
    const errors = [];
    e.on('error', (error) => errors.push(error));
    e.configure('x', { merge: () => 5 });
    e.push('x', [1, 2], { key: 'k' });
    e.push('x', [3, 4], { key: 'k' });
    assert.equal(errors[0].code, 'MILLRACE_E_INVALID_ARGUMENT');
    assert.match(errors[0].message, /merge of "x" returned 5; .* 2 arguments/);
    assert.equal(e.queued(), 2);
    e.close();
  });

  test('may flush, push the same key and close, without an event delivered twice', async () => {
    for (const act of ['flush', 'push', 'close', 'direct']) {
      const { e, values } = emitter();
      let isFirst = true;
      const merge = (older, newer) => {
        if (!isFirst) return newer;
        isFirst = false;
        if (act === 'push') e.push('x', ['inner'], { key: 'k' });
        else if (act === 'direct') e.set({ policy: 'direct' });
        else e[act]();
        return `${older} and ${newer}`;
      };
      e.configure('x', { merge });
      e.push('x', ['older'], { key: 'k' });
      const last = () => e.push('x', ['newer'], { key: 'k' });
      if (act === 'close') assert.throws(last, { code: 'MILLRACE_E_CLOSED' });
      else last();
      await turn();
      const wanted = {
        flush: ['older', 'newer'],
        push: ['inner', 'newer'],
        close: ['older'],
        direct: ['older', 'newer'],
      };
      assert.deepEqual(values(), wanted[act], act);
    }
  });

  test('must be a function or false', () => {
    const e = new BatchEmitter();
    assert.throws(() => e.configure('x', { merge: true }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /'merge' is true; it must be a function, or false/,
    });
  });
});
