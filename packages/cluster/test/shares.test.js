import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { poolShares, processesFor, sharedCore, usableCpus } from '../dist/options.js';

test('usable are whole CPUs, without the reserve, one at least', () => {
  const cases = [
    [0.5, 0.1, 1],
    [1, 0.1, 1],
    [1.5, 0.1, 1],
    [2, 0.1, 2],
    [2.9, 0, 2],
    [4, 0.1, 4],
    [6, 0.1, 5],
    [8, 0.1, 7],
    [16, 0.1, 14],
    [8, 0.5, 4],
    [2, 0.9, 1],
  ];
  for (const [cpus, reserve, usable] of cases) {
    assert.equal(usableCpus(cpus, reserve), usable, `${cpus} CPUs, reserve ${reserve}`);
  }
});

test('whole threads are dealt out, the first processes get what is over', () => {
  assert.deepEqual(poolShares(8, 3), [2, 2, 1]);
  assert.deepEqual(poolShares(8, 4), [1, 1, 1, 1]);
  assert.deepEqual(poolShares(4, 1), [3]);
  // No core is left: one thread, on that of the loop.
  assert.deepEqual(poolShares(2, 2), [sharedCore, sharedCore]);
  assert.deepEqual(poolShares(4, 3), [1, sharedCore, sharedCore]);
});

for (const seed of seeds(1)) {
  test(`loops and threads together are never more than the CPUs, and use all of them, seed ${seed}`, () => {
    const random = randomNumbers(seed);
    for (let i = 0; i < 2000; i++) {
      const cpus = (1 + random(1280)) / 10;
      const reserve = random(90) / 100;
      const usable = usableCpus(cpus, reserve);
      const count = 1 + random(40);
      const shares = poolShares(usable, count);
      const threads = shares.reduce((sum, share) => sum + Math.floor(share), 0);
      const what = `${cpus} CPUs, reserve ${reserve}, ${count} processes: ${shares}`;
      assert.ok(usable <= Math.max(1, cpus), what);
      assert.equal(shares.length, count, what);
      assert.equal(threads, Math.max(0, usable - count), what);
      assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, what);
      assert.ok(
        shares.every((share) => share >= sharedCore),
        what,
      );
    }
  });
}

test('a number of processes leaves room for the threads asked for', () => {
  for (let usable = 1; usable <= 64; usable++) {
    for (let threads = 0; threads <= 8; threads++) {
      const count = processesFor(usable, threads);
      assert.ok(count === 1 || count * (1 + threads) <= usable);
      if (usable < 1 + threads) continue;
      for (const share of poolShares(usable, count)) assert.ok(Math.floor(share) >= threads);
    }
  }
});
