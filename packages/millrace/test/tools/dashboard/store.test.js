// What the page makes of what it gets: gaps, restarts, clocks. Without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labels } from '../../../dashboard/marks.js';
import { Span } from '../../../dashboard/series.js';
import { capacity, Store } from '../../../dashboard/store.js';
import { View } from '../../../dashboard/view.js';

const start = 1_700_000_000;
const info = (id) => ({ id, pid: 1, thread: 0, role: 'main', title: 'app.js', endedAt: null });

/** A store with samples of one process: [second from the start, values]. */
function storeOf(samples, store = new Store()) {
  store.put(info('1'));
  for (const [second, values] of samples) {
    store.sample({ process: '1', at: (start + second) * 1000, values });
  }
  return store;
}

const spanOf = (store, from, to) =>
  new Span([...store.processes.values()], start + from, start + to);

test('a second without a sample is bridged; more of them are a gap', () => {
  const store = storeOf([
    [0, { level: 1 }],
    [2, { level: 3 }],
    [3600, { level: 5 }],
    [3601, {}],
  ]);
  assert.deepEqual(spanOf(store, 3598, 3601).level('level'), [null, null, 5, 5]);
  const short = storeOf([
    [0, { level: 1 }],
    [2, { level: 3 }],
    [9, { level: 5 }],
  ]);
  assert.deepEqual(spanOf(short, 0, 9).level('level'), [1, 1, 3, 3, 3, null, null, null, null, 5]);
});

test('after a gap a rate begins anew: what was counted meanwhile is no peak', () => {
  const store = storeOf([
    [0, { total: 10 }],
    [1, { total: 20 }],
    [60, { total: 9000 }],
    [61, { total: 9010 }],
  ]);
  const rates = spanOf(store, 0, 61).rate('total');
  assert.equal(rates[1], 10);
  assert.equal(rates[60], null);
  assert.equal(rates[61], 10);
});

test('a total that falls gives no negative rate, and one that comes up has counted from 0', () => {
  const store = storeOf([
    [0, { total: 100 }],
    [1, { total: 150, other: 4 }],
    [2, { total: 3 }],
    [3, { total: 8 }],
    [4, { total: null }],
  ]);
  assert.deepEqual(spanOf(store, 0, 3).rate('total'), [null, 50, 0, 5]);
  assert.equal(spanOf(store, 0, 3).rate('other')[1], 4);
});

test('values that are older than is kept are not taken for new ones', () => {
  const store = storeOf([
    [0, { level: 1 }],
    [capacity, { level: 2 }],
  ]);
  assert.deepEqual(spanOf(store, 0, 0).level('level'), [null]);
});

test('when the clock is set back, the page goes on', () => {
  const store = storeOf([
    [3600, { level: 1 }],
    [3601, { level: 2 }],
    [0, { level: 3 }],
    [1, { level: 4 }],
  ]);
  const view = new View(store);
  assert.equal(store.latest, start + 1);
  assert.deepEqual(view.now.level('level').slice(-2), [3, 4]);
  assert.deepEqual(spanOf(store, 3600, 3601).level('level'), [null, null]);
  // One that is merely late does not.
  store.sample({ process: '1', at: (start - 3) * 1000, values: {} });
  assert.equal(store.latest, start + 1);
});

test('names of marks that would run into each other become one', () => {
  const widthOf = (text) => text.length;
  const limits = [0, 40];
  const place = (x, name) => ({ x, name });
  assert.deepEqual(labels([place(0, 'ws off'), place(20, 'ws on')], widthOf, limits, 2), [
    { text: 'ws off', left: 0 },
    { text: 'ws on', left: 20 },
  ]);
  assert.deepEqual(labels([place(10, 'ws off'), place(12, 'ws on')], widthOf, limits, 2), [
    { text: 'ws off, ws on', left: 10 },
  ]);
  // At the right end they move to the left, and what is there is taken in.
  assert.deepEqual(labels([place(28, 'ws off'), place(39, 'guard on')], widthOf, limits, 2), [
    { text: 'ws off, guard on', left: 24 },
  ]);
  const many = Array.from({ length: 9 }, (_, n) => place(n, 'ws off'));
  assert.deepEqual(labels(many, widthOf, limits, 2), [{ text: '9 switches', left: 0 }]);
});
