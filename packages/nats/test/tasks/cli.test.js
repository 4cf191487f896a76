import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { folderWith, start, WORKER } from '../../../millrace/test/tools/help.js';
import { unable } from '../nats.js';
import { eventually, setUp } from './support.js';

/** Starts the program; `run` runs it to its end. */
const begin = (args, options) => start(args, { ...options, program: 'millrace-worker' });
const run = (args, options) => begin(args, options).ended;

const options = { skip: unable, timeout: 300_000 };
const tasks = `import { writeFileSync } from 'node:fs';
export const double = (n) => 2 * n;
export const fail = (_, { delivery }) => { if (delivery < 5) throw new Error('no ' + delivery); };
export const wait = (ms) => {
  writeFileSync('begun', '');
  return new Promise((resolve) => setTimeout(resolve, ms, 'waited'));
};
`;

test(
  'millrace-worker runs the functions of a file, tells what happens, and drains at SIGTERM',
  options,
  async (t) => {
    const { server, open } = await setUp(t);
    const cwd = folderWith(t, { 'tasks.mjs': tasks });
    const args = ['tasks.mjs', '--stream', 'tests', '--attempts', '2', '--backoff', '10', '--json'];
    const worker = begin(args, { root: undefined, cwd, env: { MILLRACE_BROKER: server.url } });
    t.after(() => worker.child.kill('SIGKILL'));
    const calls = open();
    assert.equal(await calls.run(4, { name: 'double' }), 8);
    await assert.rejects(calls.run(4, { name: 'fail', id: 'sad' }), { message: 'no 2' });
    const last = calls.run(300, { name: 'wait' });
    await eventually(() => existsSync(join(cwd, 'begun')));
    worker.child.kill('SIGTERM');
    assert.equal(await last, 'waited');
    const { code, output, errors } = await worker.ended;
    assert.equal(code, 0, errors);
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['up', 'retry', 'dead', 'closing', 'close'],
    );
    const { id, name, delivery, error, delayMs } = lines[1];
    assert.deepEqual(
      { id, name, delivery, error, delayMs },
      {
        ...{ id: 'sad', name: 'fail', delivery: 1, error: 'Error: no 1', delayMs: 10 },
      },
    );
    assert.equal(lines.at(-1).done, 2);
  },
);

test('--lag, --dead and --retry-dead show and mend a stream', options, async (t) => {
  const { server, open } = await setUp(t);
  const at = ['--stream', 'tests', '--broker', server.url];
  const none = await run([...at, '--lag']);
  assert.equal(none.code, 1);
  assert.match(none.errors, /^millrace-worker: there is no stream tests of tasks/);
  const calls = open();
  await calls.enqueue(1, { name: 'double', priority: 'high' });
  const [lag, table] = await Promise.all([run([...at, '--lag', '--json']), run(['--lag', ...at])]);
  assert.deepEqual(JSON.parse(lag.output).high, { pending: 1, unacknowledged: 0, redelivered: 0 });
  assert.match(table.output, /^high +1 +0 +0$/m);
  const file = join(folderWith(t, { 'tasks.mjs': tasks }), 'tasks.mjs');
  const worker = begin([...at, '--attempts=1', file], { input: null });
  t.after(() => worker.child.kill('SIGKILL'));
  await assert.rejects(calls.run(1, { name: 'fail', id: 'sad' }), { message: 'no 1' });
  await worker.seen('dead: sad (fail), delivery 1: Error: no 1');
  assert.match(
    (await run([...at, '--dead'])).output,
    /failed: sad \(fail\) after 1: Error: no 1\ndead letters: 1\n$/,
  );
  assert.match((await run([...at, '--retry-dead'])).output, /^1 dead letter is a task again$/m);
  await eventually(async () =>
    (await run([...at, '--dead', '--json'])).output.includes('"id":"sad"'),
  );
  worker.child.kill('SIGINT');
  assert.equal((await worker.ended).code, 0);
});

test('it explains itself, with examples, and says its version', async () => {
  const { code, output, errors } = await run(['--help']);
  assert.equal(code, 0, errors);
  assert.match(output, /^Usage: millrace-worker /);
  assert.match(output, /^ {2}millrace-worker tasks\.js /m);
  assert.match(output, /^ {2}-h, --help +this text$/m);
  for (const line of output.split('\n')) assert.ok(line.length <= 80, line);
  assert.equal((await run(['-h'])).output, output);
  const { version } = JSON.parse(readFileSync(join(WORKER, '../../package.json'), 'utf8'));
  assert.equal((await run(['--version'])).output, `${version}\n`);
});

test('mistakes are reported in a sentence', options, async (t) => {
  const cwd = folderWith(t, { 'tasks.mjs': tasks });
  const wrong = [
    [[], 2, /--stream NAME is missing/],
    [['--stream', 's'], 2, /FILE, the file with the functions, is missing/],
    [['gone.mjs', '--stream', 's'], 2, /there is no file gone\.mjs/],
    [['tasks.mjs', 'more.mjs', '--stream', 's'], 2, /a second FILE, more\.mjs/],
    [['tasks.mjs', '--stream', 'a.b'], 2, /--stream is "a\.b"/],
    [['tasks.mjs', '--stream', 's', '--threads', '0'], 2, /--threads must be a positive/],
    [['.', '--stream', 's'], 2, /\. is a folder; name a file in it/],
    [
      ['tasks.mjs', '--stream', 's', '--threads', 'x'],
      2,
      /--threads must be a positive integer, up to 1024; it is "x"/,
    ],
    [['tasks.mjs', '--stream', 's', '--attempts', '0'], 2, /--attempts is 0/],
    [['tasks.mjs', '--stream', 's', '--lag'], 2, /--lag takes no FILE/],
    [['--stream', 's', '--lag', '--dead'], 2, /--lag and --dead cannot be combined/],
    [
      ['--stream', 's', '--lag', '--broker', 'http://x'],
      2,
      /--broker is "http:\/\/x"; it must be a URL as/,
    ],
  ];
  const check = async ([args, code, message]) => {
    const ended = await run([...args], { root: undefined, cwd });
    assert.equal(ended.code, code, args.join(' '));
    assert.match(ended.errors, message);
  };
  await Promise.all(wrong.map(check));
});

test('millrace-worker takes no task where its file cannot be loaded', options, async (t) => {
  const { server, open } = await setUp(t);
  const calls = open();
  const files = {
    'syntax.mjs': ['export const double = (', /functions cannot be loaded from .*syntax\.mjs: \w/],
    'none.mjs': ['export const double = 2;', /none\.mjs: it exports no function/],
    'ends.mjs': ['process.exit(3);', /exited with code: 3/],
  };
  const texts = Object.entries(files).map(([name, [text]]) => [name, text]);
  const good = 'export const double = (n, { delivery }) => [2 * n, delivery];';
  const cwd = folderWith(t, { ...Object.fromEntries(texts), 'good.mjs': good });
  const answer = calls.run(4, { name: 'double' });
  for (const [name, [, said]] of Object.entries(files)) {
    const args = [name, '--stream', 'tests'];
    const worker = begin(args, { root: undefined, cwd, env: { MILLRACE_BROKER: server.url } });
    const { code, errors } = await worker.ended;
    assert.equal(code, 1, name);
    assert.match(errors, said);
  }
  const args = ['good.mjs', '--stream', 'tests'];
  const worker = begin(args, { root: undefined, cwd, env: { MILLRACE_BROKER: server.url } });
  t.after(() => worker.child.kill('SIGKILL'));
  assert.deepEqual(await answer, [8, 1]);
});
