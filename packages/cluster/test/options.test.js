import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '@millrace/cluster';
import { serveOptions } from '../dist/options.js';
import { fixture } from './program.js';

const refused = (options, message, isFile = true) =>
  assert.throws(() => serveOptions(options, isFile), {
    code: 'MILLRACE_E_INVALID_OPTION',
    message,
  });

test('a value out of range, unknown or of the wrong kind is refused by name', () => {
  refused({ wokers: 2 }, /^serve\(\): unknown option 'wokers' \(is 'workers' meant\?\)/);
  refused({ workers: 0 }, /'workers' is 0; it must be an integer from 1 to 1024/);
  refused({ workers: { max: 0 } }, /'workers.max' is 0/);
  refused({ workers: { min: 3, max: 2 } }, /'workers.max' is 2; .* which is 3/);
  refused({ workers: { count: 3 } }, /unknown option 'workers.count'; known are min, max/);
  refused({ workers: null }, /'workers' is null/);
  refused({ port: 65_536 }, /'port' is 65536/);
  refused({ port: '80' }, /'port' is "80"/);
  refused({ host: '' }, /'host' is ""/);
  refused({ reserve: 1 }, /'reserve' is 1; it must be a number from 0 to 0.9/);
  refused({ drainTimeout: null }, /'drainTimeout' is null/);
  refused({ crashLimit: 1.5 }, /'crashLimit' is 1.5/);
  refused({ scaleUp: 0.5, scaleDown: 0.5 }, /'scaleDown' is 0.5; .* below 'scaleUp'/);
  refused({ sticky: 'address' }, /'sticky' is "address"/);
  refused({ sticky: {} }, /'sticky' is an object/);
  refused({ sticky: { header: 'a', cookie: 'b' } }, /'sticky'/);
  refused({ sticky: { header: 1 } }, /'sticky\.header' is 1/);
  refused({ sticky: { header: 'a', keepAlive: 1 } }, /'sticky.keepAlive' is 1/);
  refused({ signals: 1 }, /'signals' is 1/);
  refused({ env: { A: 1 } }, /'env\.A' is 1/);
  refused({ args: 'a' }, /'args'/);
  refused({ execArgv: [1] }, /'execArgv\[0\]' is 1/);
  refused({ log: true }, /'log' is true; it must be a function, or false/);
  refused({ onDrain: () => {} }, /call onDrain\(\) of @millrace\/cluster/);
  refused({ onClose: 1 }, /'onClose' is 1; it must be a function/, false);
  refused([], /^serve\(\): 'options' is an array of 0; it must be an object/);
});

test('defaults', () => {
  const { port, min, max, usable, sticky, drainTimeout } = serveOptions({}, true);
  assert.deepEqual([port, sticky, drainTimeout], [null, null, 8000]);
  assert.deepEqual([min, max], [usable, usable]);
  assert.deepEqual(range({ workers: 3 }), [3, 3]);
  assert.deepEqual(range({ workers: { max: 3 } }), [1, 3]);
  assert.deepEqual(range({ workers: { min: 1000 } }), [1000, 1000]);
});

test('inside another cluster, or a pool, the share is what there is', (t) => {
  const { MILLRACE_CPUS } = process.env;
  t.after(() => {
    if (MILLRACE_CPUS === undefined) delete process.env.MILLRACE_CPUS;
    else process.env.MILLRACE_CPUS = MILLRACE_CPUS;
  });
  process.env.MILLRACE_CPUS = '0.5';
  assert.deepEqual(range({}), [1, 1]);
});

const range = (options) => {
  const { min, max } = serveOptions(options, true);
  return [min, max];
};

test('an application without a port has that of the environment, or 3000', (t) => {
  const { PORT } = process.env;
  t.after(() => {
    if (PORT === undefined) delete process.env.PORT;
    else process.env.PORT = PORT;
  });
  delete process.env.PORT;
  assert.equal(serveOptions({}, false).port, 3000);
  process.env.PORT = '8080';
  assert.equal(serveOptions({}, false).port, 8080);
  process.env.PORT = 'http';
  refused({}, /^the environment: 'PORT' is "http"; it must be an integer/, false);
});

test('arguments that are no application', async () => {
  const invalid = (message) => ({ code: 'MILLRACE_E_INVALID_ARGUMENT', message });
  await assert.rejects(serve(42), invalid(/takes an application, .* not 42/));
  await assert.rejects(serve(null), invalid(/not null/));
  await assert.rejects(serve('no-such.js'), invalid(/there is no file ".*no-such.js" to serve/));
  await assert.rejects(serve(fixture('.')), invalid(/there is no file/));
});

test('one cluster at a time', async () => {
  const options = { port: 0, workers: 1, signals: false, idleGrace: 0, startTimeout: 600_000 };
  const first = await serve(fixture('plain.js'), options);
  await assert.rejects(serve(fixture('plain.js'), options), {
    code: 'MILLRACE_E_INVALID_ARGUMENT',
  });
  await first.close();
  const second = await serve(fixture('plain.js'), options);
  await second.close();
});

test('a system that starts no process', async () => {
  const lines = [];
  const options = {
    ...{ port: 0, workers: 1, signals: false, crashLimit: 2, respawnDelay: 1 },
    // More than there is room for in one variable.
    env: { TOO_LONG: 'x'.repeat(200_000) },
    log: (line) => lines.push(line),
  };
  await assert.rejects(serve(fixture('plain.js'), options), { code: 'MILLRACE_E_WORKER' });
  const told = lines.filter((line) => line === 'slot 1 gets no process: Error: spawn E2BIG');
  assert.equal(told.length, 2);
});
