/** When the ends of a turn come, and what becomes of items and errors until then. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFile } from 'node:fs';
import { describe, test } from 'node:test';
import turn from '../dist/turn.cjs';

const { afterMicrotasks, atTurnEnd, callEach, nextMicrotask, onceAt, throwLater, Turn } = turn;
const points = { atTurnEnd, afterMicrotasks, nextMicrotask, nextTick: process.nextTick };

const come = (point) => new Promise((resolve) => point(resolve));

/** Runs `fn` as a callback of the poll phase, after which the check phase follows. */
const inPollPhase = (fn) =>
  new Promise((resolve, reject) => {
    readFile(import.meta.filename, () => {
      try {
        resolve(fn());
      } catch (error) {
        reject(error);
      }
    });
  });

/** Resolves to the errors of this process that nobody catches, until `fn` is over. */
async function uncaughtDuring(fn) {
  const errors = [];
  const before = process.listeners('uncaughtException');
  const take = (error) => errors.push(error.message);
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', take);
  try {
    await fn();
  } finally {
    process.off('uncaughtException', take);
    for (const listener of before) process.on('uncaughtException', listener);
  }
  return errors;
}

describe('points', () => {
  test('come in this order, after the code that chose them', async () => {
    const log = [];
    await inPollPhase(() => {
      setTimeout(() => log.push('timer'), 0);
      atTurnEnd(() => log.push('atTurnEnd'));
      afterMicrotasks(() => log.push('afterMicrotasks'));
      nextMicrotask(() => log.push('nextMicrotask'));
      process.nextTick(() => log.push('nextTick'));
      log.push('now');
    });
    while (log.length < 6) await come(setImmediate);
    assert.deepEqual(log.slice(0, 5), [
      'now',
      'nextTick',
      'nextMicrotask',
      'afterMicrotasks',
      'atTurnEnd',
    ]);
  });

  test('afterMicrotasks comes after a chain of promises, nextMicrotask within it', async () => {
    const log = [];
    await come((done) => {
      afterMicrotasks(() => {
        log.push('afterMicrotasks');
        done();
      });
      (async () => {
        for (let link = 0; link < 10; link++) await null;
        log.push('chain');
      })();
      nextMicrotask(() => log.push('nextMicrotask'));
    });
    assert.deepEqual(log, ['nextMicrotask', 'chain', 'afterMicrotasks']);
  });
});

describe('onceAt', () => {
  for (const [name, point] of Object.entries(points)) {
    test(`runs once for all calls until ${name}, and again for later ones`, async () => {
      let runs = 0;
      const ask = onceAt(point, () => runs++);
      for (let call = 0; call < 3; call++) ask();
      assert.equal(runs, 0);
      await come(atTurnEnd);
      assert.equal(runs, 1);
      ask();
      await come(atTurnEnd);
      assert.equal(runs, 2);
    });
  }

  test('a call from within asks for the next turn', async () => {
    let runs = 0;
    const ask = onceAt(atTurnEnd, () => {
      if (++runs < 3) ask();
    });
    ask();
    for (const expected of [1, 2, 3, 3]) {
      await come(atTurnEnd);
      assert.equal(runs, expected);
    }
  });

  test('goes on after an error', async () => {
    let runs = 0;
    const ask = onceAt(atTurnEnd, () => {
      runs++;
      throw new Error(`run ${runs}`);
    });
    const errors = await uncaughtDuring(async () => {
      for (let call = 0; call < 2; call++) {
        ask();
        await come(atTurnEnd);
      }
    });
    assert.deepEqual(errors, ['run 1', 'run 2']);
  });
});

describe('Turn', () => {
  for (const [name, point] of Object.entries(points)) {
    test(`hands over the items of a turn together, in order, ${name}`, async () => {
      const turns = [];
      const items = new Turn(point, (all) => turns.push(all));
      for (const item of [1, 2, 3]) items.add(item);
      assert.deepEqual(turns, []);
      await come(atTurnEnd);
      items.add(4);
      await come(atTurnEnd);
      assert.deepEqual(turns, [[1, 2, 3], [4]]);
    });
  }

  test('an item that is added while others are handed over is one of the next turn', async () => {
    const turns = [];
    const items = new Turn(atTurnEnd, (all) => {
      turns.push(all);
      if (turns.length === 1) items.add('later');
    });
    items.add('first');
    await come(atTurnEnd);
    assert.deepEqual(turns, [['first']]);
    await come(atTurnEnd);
    assert.deepEqual(turns, [['first'], ['later']]);
  });

  test('flush() hands over at once, each item once, and never nothing', async () => {
    const turns = [];
    const items = new Turn(atTurnEnd, (all) => turns.push(all));
    items.flush();
    items.add(1);
    items.flush();
    items.add(2);
    await come(atTurnEnd);
    await come(atTurnEnd);
    assert.deepEqual(turns, [[1], [2]]);
  });

  test('ends in the order of the first items, and an error of one is no other one’s', async () => {
    const log = [];
    const of = (name) =>
      new Turn(atTurnEnd, (all) => {
        log.push(`${name} ${all}`);
        if (name === 'b') throw new Error('of b');
      });
    const [a, b, c] = ['a', 'b', 'c'].map(of);
    const errors = await uncaughtDuring(async () => {
      for (const each of [b, c, a, b]) each.add(1);
      while (log.length < 3) await come(atTurnEnd);
      b.add(2);
      await come(atTurnEnd);
    });
    assert.deepEqual(log, ['b 1,1', 'c 1', 'a 1', 'b 2']);
    assert.deepEqual(errors, ['of b', 'of b']);
  });

  for (const [name, point] of Object.entries(points)) {
    test(`hands over in the async context of the first item, ${name}`, async () => {
      const storage = new AsyncLocalStorage();
      const stores = [];
      const items = new Turn(point, () => stores.push(storage.getStore()));
      storage.run('first', () => items.add(1));
      storage.run('second', () => items.add(2));
      await come(atTurnEnd);
      items.add(3);
      await come(atTurnEnd);
      assert.deepEqual(stores, ['first', undefined]);
    });
  }
});

describe('callEach', () => {
  test('calls with each item in order', () => {
    const log = [];
    callEach(['a', 'b'], (item) => log.push(item));
    callEach([], () => log.push('none'));
    assert.deepEqual(log, ['a', 'b']);
  });

  test('throws the first error when all have had their turn, and the others later', async () => {
    const log = [];
    const errors = await uncaughtDuring(async () => {
      const call = () =>
        callEach([1, 2, 3, 4], (item) => {
          log.push(item);
          if (item % 2 === 0) throw new Error(`of ${item}`);
        });
      assert.throws(call, { message: 'of 2' });
      await come(atTurnEnd);
    });
    assert.deepEqual(log, [1, 2, 3, 4]);
    assert.deepEqual(errors, ['of 4']);
  });

  test('throws what was thrown, even if it is undefined', () => {
    let isCaught = false;
    try {
      callEach([1], () => {
        throw undefined;
      });
    } catch (error) {
      isCaught = error === undefined;
    }
    assert.ok(isCaught);
  });
});

test('throwLater throws when the code that is running is over, once for each error', async () => {
  const log = [];
  const errors = await uncaughtDuring(async () => {
    throwLater(new Error('first'));
    throwLater(new Error('second'));
    log.push('goes on');
    await come(atTurnEnd);
  });
  assert.deepEqual(log, ['goes on']);
  assert.deepEqual(errors, ['first', 'second']);
});
