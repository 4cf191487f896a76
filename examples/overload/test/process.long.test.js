import assert from 'node:assert/strict';
import { test } from 'node:test';
import { childrenOf, isRunning, until } from '../../../scripts/lib/program-tests.js';
import { readArgs } from '../args.js';
import { SERVERS } from '../servers/index.js';
import { change, EventReader, runToEnd, SMALL, startMain } from './support.js';

test('--compare prints a line for each server, and ends', async () => {
  const args = ['--compare', '--seconds', '1', '--load', '2', ...SMALL];
  const { code, output, errors } = await runToEnd(args);
  assert.equal(errors, '');
  assert.equal(code, 0);
  assert.match(output, /^One server can do 10\.0 requests a second; offered: 2\.00 times that/);
  for (const { title } of SERVERS) {
    const [line] = output.split('\n').filter((each) => each.startsWith(`${title}  `));
    const [offered, ...figures] = line.slice(title.length).trim().split(/ {2,}/);
    assert.ok(Number(offered) > 0, line);
    assert.equal(figures.length, 13, line);
    for (const figure of figures) assert.match(figure, /^(\d+(\.\d)?( %)?|–)$/, line);
  }
});

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`after ${signal} under full load no process is left`, async (t) => {
    const main = await startMain(t);
    const events = await EventReader.open(t, main.url);
    await change(main.url, { load: 10, target: 'unprotected' });
    await events.next('point', ({ summary }) => summary?.offered > 0);
    const children = childrenOf(main.child.pid);
    // The server and the load generator.
    assert.equal(children.length, 2);
    for (const pid of children) assert.ok(isRunning(pid));
    main.child.kill(signal);
    const ended = await main.exited;
    assert.deepEqual(
      ended,
      signal === 'SIGTERM' ? { code: 0, signal: null } : { code: null, signal },
    );
    await until(() => !children.some(isRunning));
  });
}

test('an option that is wrong is explained', async () => {
  for (const [args, message] of [
    [['--load', '2'], '--load is an option of --compare.'],
    [['--compare', '--load', '11'], '--load is "11"; allowed are numbers from 0.1 to 10.'],
    [['--compare', '--load', 'NaN'], '--load is "NaN"; allowed are numbers from 0.1 to 10.'],
    [['--port', '1.5'], '--port is "1.5"; allowed are whole numbers from 0 to 65535.'],
    [['--lode', '2'], "Unknown option '--lode'. --help lists the options."],
    [
      ['--compare', '--load', '2', '--clients', '5'],
      '--load and --clients are two kinds of load; give one of them.',
    ],
  ]) {
    assert.throws(() => readArgs(args), { message });
  }
  const { code, errors } = await runToEnd(['--turn', '0']);
  assert.equal(errors, '--turn is "0"; allowed are whole numbers from 1 to 60.\n');
  assert.equal(code, 2);
});
