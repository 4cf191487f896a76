/** What a process that ends leaves behind, and the limits it runs into. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { folder } from './folder.js';

const run = promisify(execFile);
const child = fileURLToPath(new URL('./child.js', import.meta.url));

async function start(t, how, options = []) {
  const path = folder(t);
  const { stdout } = await run(process.execPath, [...options, child, how, path]);
  return { path, stdout };
}

test('appends that nobody waits for are written before the process ends by itself', async (t) => {
  const { path } = await start(t, 'ends');
  assert.equal(readFileSync(`${path}/file`, 'utf8'), 'written 0,1,2,3,4,5,6,7,8,9,durable');
});

test('appends from beforeExit are written', async (t) => {
  const { path } = await start(t, 'beforeExit');
  assert.equal(readFileSync(`${path}/file`, 'utf8'), 'last words');
});

test('process.exit() gives up what is not written, as with node:fs/promises', async (t) => {
  const { path } = await start(t, 'exit');
  assert.ok(!existsSync(`${path}/file`) || readFileSync(`${path}/file`, 'utf8') === '');
});

test('reads and writes whose rejection nobody handles are reported; others are not', async (t) => {
  const { stdout } = await start(t, 'rejections');
  assert.deepEqual(stdout.trim().split('\n'), ['unhandled 6', 'handled 6']);
});

test('a process whose folder is gone', async (t) => {
  const { stdout } = await start(t, 'no folder');
  const message = (name) => `ENOENT: no such file or directory, open '${name}'`;
  assert.deepEqual(JSON.parse(stdout), [
    message('file'),
    message('file'),
    message('./file'),
    'kept',
  ]);
});

test('out of descriptors: each call fails or succeeds on its own, and all is well afterwards', async (t) => {
  const path = folder(t);
  for (let index = 0; index < 300; index++) writeFileSync(`${path}/${index}`, `file ${index}`);
  const limited = [
    '-c',
    'ulimit -n 64; exec "$0" "$@"',
    process.execPath,
    child,
    'descriptors',
    path,
  ];
  const { stdout } = await run('sh', limited);
  const { during, afterwards, appended } = JSON.parse(stdout);
  assert.deepEqual(during, { 'EMFILE open': 301 });
  assert.deepEqual(afterwards, { right: 300 });
  assert.equal(appended, 'written');
});

test('without the right to a file', async (t) => {
  const path = folder(t);
  writeFileSync(`${path}/file`, 'secret', { mode: 0o000 });
  chmodSync(path, 0o755);
  const { stdout } = await run(process.execPath, [child, 'no right', path]);
  const [node, ours] = JSON.parse(stdout);
  assert.deepEqual(ours, node);
  assert.deepEqual(node, Array(3).fill(`EACCES: permission denied, open '${path}/file'`));
});

test('under the permission model nothing can be read or written that Node.js forbids', async (t) => {
  const path = folder(t);
  writeFileSync(`${path}/file`, 'secret');
  const [major] = process.versions.node.split('.').map(Number);
  const flag = major < 22 ? '--experimental-permission' : '--permission';
  const sources = fileURLToPath(new URL('../../../..', import.meta.url));
  const forbidden = 'ERR_ACCESS_DENIED';
  for (const [allowed, read] of [
    [`${sources}*`, forbidden],
    ['*', 'secret'],
  ]) {
    const args = [flag, '--allow-addons', '--no-warnings', `--allow-fs-read=${allowed}`];
    // Without the right to read all it is not found, which must be no error here.
    const env = { ...process.env, MILLRACE_NATIVE: process.env.MILLRACE_NATIVE === '0' ? '0' : '' };
    const { stdout } = await run(process.execPath, [...args, child, 'permission', path], { env });
    assert.deepEqual(JSON.parse(stdout), [read, forbidden, forbidden]);
    assert.equal(readFileSync(`${path}/file`, 'utf8'), 'secret');
  }
});
