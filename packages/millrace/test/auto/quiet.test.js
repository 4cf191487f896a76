/** Nothing is to be seen of it: no output, no global, no listener, nothing that keeps a process alive or writes a file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasVirtualFiles, preloads, programs, run, runJson } from './run.js';

const quiet = `${programs}quiet.cjs`;

async function seen(args, options) {
  const { code, stdout, stderr } = await run(args, options);
  assert.deepEqual([code, stderr], [0, '']);
  const [visible, own] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { visible, own };
}

const plain = await seen([quiet]);

test('--require shows nothing of itself', async () => {
  const { visible, own } = await seen([...preloads['--require'], quiet]);
  assert.deepEqual(visible, plain.visible);
  assert.deepEqual(own, {
    execArgv: preloads['--require'],
    touched: !hasVirtualFiles,
    subscribed: true,
  });
});

test('--import shows what an empty module shows', async () => {
  const empty = ['--import', 'data:text/javascript,'];
  const { visible, own } = await seen([...preloads['--import'], quiet]);
  assert.deepEqual(visible, (await seen([...empty, quiet])).visible);
  assert.deepEqual(own, {
    execArgv: preloads['--import'],
    touched: !hasVirtualFiles,
    subscribed: true,
  });
});

for (const [flag, preload] of Object.entries(preloads)) {
  test(`MILLRACE=off leaves everything as it was, ${flag}`, async () => {
    // Nothing else is looked at, however wrong it is.
    const env = {
      MILLRACE: 'off,nonsense',
      MILLRACE_CONFIG: '/no/such/file',
      MILLRACE_DASHBOARD: '?',
    };
    const { own } = await seen([...preload, quiet], { env });
    assert.deepEqual(own, { ...plain.own, execArgv: preload });
  });

  test(`a program that exits at once, ${flag}`, async () => {
    const ended = await run([...preload, '--eval', 'process.exit(3)']);
    assert.deepEqual(ended, { code: 3, signal: null, stdout: '', stderr: '' });
  });

  test(`a program that prints a line, ${flag}`, async () => {
    const ended = await run([...preload, '--eval', 'console.log("line")']);
    assert.deepEqual(ended, { code: 0, signal: null, stdout: 'line\n', stderr: '' });
  });

  test(`a program that throws, ${flag}`, async () => {
    const { code, stderr } = await run([...preload, '--eval', 'throw new Error("mine")']);
    assert.equal(code, 1);
    assert.match(stderr, /Error: mine/);
    assert.doesNotMatch(stderr, /millrace/);
  });

  test(`an application that empties process.env, ${flag}`, async () => {
    const result = await runJson([...preload, `${programs}env.mjs`, 'empty']);
    assert.deepEqual(result, { same: true, state: 'active', why: null });
  });

  test(`an application that deletes process.env, ${flag}`, async () => {
    const { same, state, why } = await runJson([...preload, `${programs}env.mjs`, 'delete']);
    assert.ok(same);
    assert.equal(state, 'waiting');
    assert.match(why, /deleted process\.env/);
  });

  test(`where nothing may be written, ${flag}`, async () => {
    // Stricter than a file system that is mounted to be read: no write is allowed at all, and no addon.
    const known = process.allowedNodeEnvironmentFlags;
    const permission = known.has('--permission') ? '--permission' : '--experimental-permission';
    const net = known.has('--allow-net') ? ['--allow-net'] : [];
    const args = ['--no-warnings', permission, '--allow-fs-read=*', ...net];
    const env = { MILLRACE_NATIVE: '' };
    const result = await runJson([...args, ...preload, `${programs}env.mjs`], { env });
    assert.deepEqual(result, { same: true, state: 'active', why: null });
  });
}
