/** Looks names up in all ways, and prints what it gets, and when. With one thread in the pool look-ups end in the order of asking. */
import { AsyncLocalStorage } from 'node:async_hooks';
import dns, { lookup } from 'node:dns';
import promises from 'node:dns/promises';
import { connect } from 'node:net';
import { promisify } from 'node:util';

// The feature is there from the first client on.
connect({ port: 1, host: '127.0.0.1' }).on('error', () => {});
const feature = process[Symbol.for('millrace.auto')]?.features.dns;
// An empty name is one that Node.js warns of.
process.noDeprecation = true;
// No name server is asked for a name with so long a part.
const missing = `${'x'.repeat(64)}.invalid`;
const print = (...values) => console.log(JSON.stringify(values));
const told = (error) => [error.code, error.message, error.stack, Object.keys(error)];

/** Resolves when so many callbacks have been called. */
const calls = (count, ask) =>
  new Promise((resolve) => {
    let left = count;
    ask((...values) => {
      print(...values);
      if (--left === 0) resolve();
    });
  });

// Results, by callbacks and promises. Different look-ups have no order.
for (const options of [undefined, {}, { family: 4 }, 4, { all: true }, null]) {
  await calls(2, (say) => {
    for (const name of ['a', 'b']) {
      lookup('localhost', options, (...answer) => say(options ?? null, name, answer));
    }
  });
}
await calls(2, (say) => {
  for (const name of ['a', 'b'])
    lookup('localhost', (...answer) => say('no options', name, answer));
});
print(await Promise.all([1, 2].map(() => promisify(lookup)('localhost'))));
print(
  await Promise.all(
    [{}, {}, { all: true }, { all: true }, 4].map((options) =>
      promises.lookup('localhost', options),
    ),
  ),
);

// Ticks and promise jobs run between two callbacks; each sees its own context.
const storage = new AsyncLocalStorage();
const order = [];
await new Promise((resolve) => {
  for (const name of ['a', 'b', 'c']) {
    storage.run(name, () =>
      lookup('localhost', function () {
        order.push(name, storage.getStore(), typeof this);
        process.nextTick(() => order.push(`${name} tick`));
        Promise.resolve().then(() => order.push(`${name} job`));
        if (name === 'c') setImmediate(resolve);
      }),
    );
  }
});
print(order);
const resumed = [];
await Promise.all(
  ['a', 'b'].map((name) =>
    storage.run(name, async () => {
      await promises.lookup('localhost');
      resumed.push(name, storage.getStore());
      await null;
      resumed.push(`${name} later`);
    }),
  ),
);
print(resumed);

// Answers and errors belong to their callers.
const lists = await Promise.all([1, 2].map(() => promises.lookup('localhost', { all: true })));
lists[0][0].address = 'changed';
lists[0].push('more');
print(lists[1]);
const failures = await Promise.allSettled([1, 2, 3].map(() => promises.lookup(missing)));
print(failures.map(({ reason }) => told(reason)));
print(
  failures[0].reason === failures[1].reason,
  failures.every(({ reason }) => reason instanceof Error),
);
await calls(2, (say) => {
  for (const name of ['a', 'b'])
    lookup(missing, (error, ...values) => say(name, told(error), values));
});

// Each error of a callback is its caller's.
const thrown = [];
process.on('uncaughtException', (error) => thrown.push(error.message, storage.getStore()));
await new Promise((resolve) => {
  for (const name of ['a', 'b', 'c']) {
    storage.run(`context of ${name}`, () =>
      lookup('localhost', () => {
        if (name === 'c') setImmediate(resolve);
        throw new Error(name);
      }),
    );
  }
});
print(thrown);

// A look-up in a callback, and what is answered at once or refused.
await new Promise((resolve) => lookup('localhost', () => lookup('localhost', resolve)));
await calls(3, (say) => {
  lookup('127.0.0.1', say);
  lookup('::1', { all: true }, say);
  lookup('', say);
});
for (const args of [
  [5, () => {}],
  ['localhost'],
  ['localhost', 'x', () => {}],
  ['localhost', 5, () => {}],
  ['localhost', { hints: 2 ** 20 }, () => {}],
  ['localhost', { all: 1 }, () => {}],
  ['localhost', { order: '' }, () => {}],
  ['x'.repeat(70_000), () => {}],
  ['localhost', {}, null],
]) {
  for (const method of [lookup, promises.lookup]) {
    try {
      await method(...args);
      print('nothing thrown');
    } catch (error) {
      print(error.code, error.message, error.stack);
    }
  }
}
print(dns.lookup === lookup, promises.lookup === dns.promises.lookup, lookup.name, lookup.length);

process.on('exit', () => process.stderr.write(feature?.state ?? 'plain'));
