import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from 'millrace/cluster';
import { serveOptions } from '../../dist/cluster/options.js';
import { fixture } from './program.js';

const refused = (options, message, isFile = true) =>
  assert.throws(() => serveOptions(options, isFile), {
    code: 'MILLRACE_E_INVALID_OPTION',
    message,
  });

test('what is out of range, unknown or of the wrong kind is refused by name', () => {
  refused(
    { wokers: 2 },
    /unknown option 'wokers' in the options of serve\(\) \(is 'workers' meant\?\)/,
  );
  refused({ workers: 0 }, /option 'workers' is 0; it must be an integer from 1 to 1024/);
  refused({ workers: { max: 0 } }, /option 'workers.max' is 0/);
  refused({ workers: { min: 3, max: 2 } }, /option 'workers.max' is 2; .* which is 3/);
  refused({ workers: { count: 3 } }, /unknown option 'count' in option 'workers'/);
  refused({ workers: null }, /option 'workers' is null/);
  refused({ port: 65_536 }, /option 'port' is 65536/);
  refused({ port: '80' }, /option 'port' is "80"/);
  refused({ host: '' }, /option 'host' is ""/);
  refused({ reserve: 1 }, /option 'reserve' is 1; it must be a number from 0 to 0.9/);
  refused({ drainTimeout: null }, /option 'drainTimeout' is null/);
  refused({ crashLimit: 1.5 }, /option 'crashLimit' is 1.5/);
  refused({ scaleUp: 0.5, scaleDown: 0.5 }, /option 'scaleDown' is 0.5; .* below 'scaleUp'/);
  refused({ sticky: 'address' }, /option 'sticky' is "address"/);
  refused({ sticky: {} }, /option 'sticky' is an object/);
  refused({ sticky: { header: 'a', cookie: 'b' } }, /option 'sticky'/);
  refused({ sticky: { header: 1 } }, /option 'sticky'/);
  refused({ sticky: { header: 'a', keepAlive: 1 } }, /option 'sticky.keepAlive' is 1/);
  refused({ signals: 1 }, /option 'signals' is 1/);
  refused({ env: { A: 1 } }, /option 'env'/);
  refused({ args: 'a' }, /option 'args'/);
  refused({ execArgv: [1] }, /option 'execArgv'/);
  refused({ log: true }, /option 'log' is true; it must be a function, or false/);
  refused({ onDrain: () => {} }, /call onDrain\(\) of millrace\/cluster/);
  refused({ onClose: 1 }, /option 'onClose' is 1; it must be a function/, false);
  refused([], /the options of serve\(\) must be an object/);
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
  refused({}, /option 'PORT \(of the environment\)' is NaN/, false);
});

test('arguments that are no application', async () => {
  const invalid = (message) => ({ code: 'MILLRACE_E_INVALID_ARGUMENT', message });
  await assert.rejects(serve(42), invalid(/takes an application, .* not 42/));
  await assert.rejects(serve(null), invalid(/not null/));
  await assert.rejects(serve('no-such.js'), invalid(/there is no file ".*no-such.js" to serve/));
  await assert.rejects(serve(fixture('.')), invalid(/there is no file/));
});

test('one cluster at a time', async () => {
  const options = { port: 0, workers: 1, signals: false, idleGrace: 0 };
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
