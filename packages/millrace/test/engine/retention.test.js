// Retention by itself: what it keeps, for whom, and when it asks to be called again.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { retainDefaults } from '../../dist/engine/options.js';
import { Retention } from '../../dist/engine/retention.js';

let expired;
let deadlines;
let retention;
let present;

beforeEach(() => {
  make(null);
});

function make(fallback) {
  expired = [];
  deadlines = [];
  present = [];
  retention = new Retention(
    (event, reason) => expired.push([event.id, reason]),
    (deadline) => deadlines.push(deadline),
    fallback,
  );
}

const options = (given) => ({ ...retainDefaults, ...given });
const event = (id, type = 'x', bytes = 0) => ({ id, type, bytes, entry: { type } });
const register = (type, receiver) => {
  present.push(receiver);
  return retention.register(type, receiver, () => present);
};
const all = (receivers) => {
  const got = [];
  retention.replay(
    'x',
    () => receivers,
    ({ id }, receiver) => got.push([id, receiver]) > 0,
  );
  return got;
};

test('a type retains by its own options, else by the emitter’s', () => {
  assert.equal(retention.options('x'), null);
  assert.equal(retention.used, false);
  retention.configure('x', options({ max: 1 }));
  assert.equal(retention.options('x').max, 1);
  assert.equal(retention.used, true);
  make(options({ max: 2 }));
  retention.configure('x', null);
  assert.equal(retention.options('x'), null);
  assert.equal(retention.options('y').max, 2);
});

test('it asks for a call at the age of the oldest, and takes that back when nothing is left', () => {
  retention.configure('x', options({ maxAge: 100 }));
  retention.configure('y', options({ maxAge: 10 }));
  const first = event(1);
  retention.keep(first, 0);
  retention.keep(event(2), 5);
  retention.keep(event(3, 'y'), 20);
  assert.deepEqual(deadlines, [100, 30]);
  retention.expire(30);
  assert.deepEqual(expired, [[3, 'age']]);
  retention.cancel(first);
  retention.expire(105);
  assert.deepEqual(expired, [
    [3, 'age'],
    [2, 'age'],
  ]);
  assert.deepEqual(deadlines, [100, 30, 100, 105, null]);
});

test('a timer that fires early is asked for again', () => {
  retention.configure('x', options({ maxAge: 100 }));
  retention.keep(event(1), 0);
  retention.deadlineReached(99.5);
  assert.deepEqual(expired, []);
  assert.deepEqual(deadlines, [100, 100]);
  retention.deadlineReached(100);
  assert.deepEqual(expired, [[1, 'age']]);
});

test('count and bytes are those of what is kept', () => {
  retention.configure('x', options({ maxBytes: 10 }));
  assert.equal(retention.keep(event(1, 'x', 6), 0), true);
  assert.equal(retention.keep(event(2, 'x', 5), 0), false);
  assert.equal(retention.keep(event(3, 'x', 4), 0), true);
  assert.deepEqual([retention.count, retention.bytes], [2, 10]);
  register('x', 'h');
  all(['h']);
  assert.deepEqual([retention.count, retention.bytes], [0, 0]);
  assert.deepEqual(retention.counters, { held: 2, replayed: 2, expired: 0, refused: 1 });
});

test('register says whether something is due', () => {
  retention.configure('x', options({}));
  assert.equal(register('x', 'h'), false);
  retention.keep(event(1), 0);
  assert.equal(retention.isDue('x'), false);
  assert.equal(register('x', 'h'), true);
  assert.equal(retention.isDue('x'), true);
  assert.deepEqual(
    retention.dueTypes(() => present),
    ['x'],
  );
  all(['h']);
  assert.equal(retention.isDue('x'), false);
});

test('a handler that is gone gives its type no place before others', () => {
  for (const type of ['x', 'y']) {
    retention.configure(type, options({}));
    retention.keep(event(1, type), 0);
  }
  register('x', 'a');
  present = [];
  register('y', 'b');
  assert.equal(register('x', 'a'), true);
  assert.deepEqual(
    retention.dueTypes(() => present),
    ['y', 'x'],
  );
});

test('of what was due to handlers that are gone nothing is due any more', () => {
  retention.configure('x', options());
  retention.keep(event(1), 0);
  register('x', 'h');
  assert.deepEqual(
    retention.dueTypes(() => []),
    [],
  );
  assert.equal(retention.anyDue, false);
  assert.deepEqual(all(['h']), []);
  assert.equal(retention.count, 1);
});

test("'each' gives what was kept before a handler came, and that handler alone", () => {
  retention.configure('x', options({ replay: 'each' }));
  retention.keep(event(1), 0);
  register('x', 'a');
  retention.keep(event(2), 0);
  register('x', 'b');
  assert.deepEqual(all(['a', 'b', 'c']), [
    [1, 'a'],
    [1, 'b'],
    [2, 'b'],
  ]);
  assert.equal(retention.count, 2);
  retention.close();
  assert.deepEqual(expired, []);
});

test('a handler that fails keeps the event from the others', () => {
  retention.configure('x', options({}));
  retention.keep(event(1), 0);
  register('x', 'a');
  const got = [];
  retention.replay(
    'x',
    () => ['a', 'b'],
    ({ id }, receiver) => {
      got.push([id, receiver]);
      return false;
    },
  );
  assert.deepEqual(got, [[1, 'a']]);
});

test('cancel takes an event out once', () => {
  retention.configure('x', options({}));
  const kept = event(1);
  retention.keep(kept, 0);
  assert.equal(retention.cancel(kept), true);
  assert.equal(retention.cancel(kept), false);
  retention.close();
  assert.deepEqual(expired, []);
});

test('close and off report in the order in which things were kept', () => {
  retention.configure('x', options({}));
  retention.configure('y', options({}));
  for (const [id, type] of [
    [1, 'x'],
    [2, 'y'],
    [3, 'x'],
  ])
    retention.keep(event(id, type), 0);
  retention.configure('y', null);
  retention.close();
  assert.deepEqual(expired, [
    [2, 'off'],
    [1, 'close'],
    [3, 'close'],
  ]);
  assert.equal(retention.count, 0);
});

test('an event that does not fit leaves no trace of its type', () => {
  make(options({ maxBytes: 10 }));
  for (let i = 0; i < 3; i++) assert.equal(retention.keep(event(i, `type ${i}`, 11), 0), false);
  assert.equal(retention.keep(event(9, 'x', 10), 0), true);
  assert.deepEqual(deadlines.length, 1);
});

test('a type without options of its own is due no more when nothing of it is left', () => {
  for (const end of [(one) => retention.cancel(one), () => retention.expire(1e9)]) {
    make(options({}));
    const one = event(1);
    retention.keep(one, 0);
    assert.equal(register('x', 'handler'), true);
    assert.equal(retention.anyDue, true);
    end(one);
    assert.equal(retention.anyDue, false);
    assert.deepEqual(
      retention.dueTypes(() => present),
      [],
    );
  }
});
