// As the batchScheduleFn of DataLoader: its batches then leave when ours would.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import DataLoader from 'dataloader';
import { batch } from 'millrace';
import { stillClock } from '../../../base/test/clocks.js';
import { echo } from './helper.js';

/** Groups DataLoader's dispatches: each is a call, and a batch of them leaves together. */
function schedule(options) {
  const dispatch = batch((callbacks) => {
    for (const callback of callbacks) callback();
    return callbacks;
  }, options);
  return (callback) => void dispatch(callback);
}

test('loads of one tick, in whatever promise chain, are one batch', async () => {
  const { bulk, batches } = echo();
  const loader = new DataLoader(bulk, {
    batchScheduleFn: schedule(),
  });
  const deep = async (key) => {
    await null;
    await null;
    return loader.load(key);
  };
  assert.deepEqual(await Promise.all([loader.load('a'), deep('b'), loader.load('a')]), [
    'a',
    'b',
    'a',
  ]);
  assert.deepEqual(batches, [['a', 'b']]);
});

test('several loaders with one schedule leave together', async () => {
  const order = [];
  const batchScheduleFn = schedule();
  const loader = (name) =>
    new DataLoader(
      async (keys) => {
        order.push(`${name} ${keys.length}`);
        return keys;
      },
      { batchScheduleFn },
    );
  const [users, posts] = [loader('users'), loader('posts')];
  await Promise.all([users.load(1), posts.load(1), users.load(2)]);
  assert.deepEqual(order, ['users 2', 'posts 1']);
});

test('loads that depend on others make a batch for each step', async () => {
  const { bulk, batches } = echo();
  const loader = new DataLoader(bulk, {
    batchScheduleFn: schedule(),
  });
  await Promise.all(
    ['a', 'b'].map((key) => loader.load(key).then((got) => loader.load(`${got}!`))),
  );
  assert.deepEqual(batches, [
    ['a', 'b'],
    ['a!', 'b!'],
  ]);
});

test('a fixed delay gathers loads of several turns', async (t) => {
  const clock = stillClock(t);
  const { bulk, batches } = echo();
  const loader = new DataLoader(bulk, {
    batchScheduleFn: schedule({ policy: 'fixed', maxDelay: 20 }),
  });
  const first = loader.load('a');
  await new Promise(setImmediate);
  const second = loader.load('b');
  clock.pass(20);
  await Promise.all([first, second]);
  assert.deepEqual(batches, [['a', 'b']]);
});
