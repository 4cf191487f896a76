import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { childrenOf, isRunning, until } from '../../../scripts/lib/program-tests.js';
import { readArgs } from '../args.js';
import { request, runToEnd, startMain } from './support.js';

test('SIGTERM ends it in the middle of its work, and leaves nothing behind', async (t) => {
  const main = await startMain(t, ['--threads', '2']);
  const answer = fetch(`${main.url}/fibonacci?n=3000000&algorithm=paper`);
  const sample = fetch(`${main.url}/process-file?name=sample.ndjson`);
  await until(async () => (await request(main.url, '/health')).body.tasks.pool.running === 2);
  await until(async () => (await readdir(main.folder)).length === 1);
  const [photos, ...others] = childrenOf(main.child.pid);
  assert.ok(isRunning(photos));
  assert.deepEqual(others, []);
  main.child.kill('SIGTERM');
  assert.deepEqual(await main.exited, { code: 0, signal: null });
  assert.equal((await answer).status, 503);
  assert.equal((await sample).status, 503);
  await until(() => !isRunning(photos));
  assert.deepEqual(await readdir(main.folder), []);
  assert.equal(main.errors, '');
});

test('several processes on one port, which end together', async (t) => {
  const main = await startMain(t, ['--cluster', '--workers', '2', '--threads', '1']);
  const { body } = await request(main.url, '/health/cluster');
  assert.deepEqual([body.status, body.ready, body.processes.length], ['ok', 2, 2]);
  assert.equal((await request(main.url, '/fibonacci?n=10')).body.first, '55');
  assert.equal((await request(main.url, '/fetch-photos')).body.photos, 5000);
  const children = childrenOf(main.child.pid);
  assert.equal(children.length, 3);
  main.child.kill('SIGTERM');
  assert.equal((await main.exited).code, 0);
  await until(() => !children.some(isRunning));
  assert.deepEqual(await readdir(main.folder), []);
  assert.equal(main.errors, '');
});

test('SIGTERM gives up long tasks of several processes, too', async (t) => {
  const main = await startMain(t, ['--cluster', '--workers', '1', '--threads', '2']);
  const answer = request(main.url, '/fibonacci?n=3000000&algorithm=paper');
  const sample = request(main.url, '/process-file?name=sample.ndjson');
  const running = async () => (await request(main.url, '/health')).body.tasks.pool.running;
  await until(async () => (await running()) === 2 && (await readdir(main.folder)).length === 1);
  main.child.kill('SIGTERM');
  assert.equal((await answer).body.error?.code, 'stopping');
  await sample;
  assert.deepEqual(await main.exited, { code: 0, signal: null });
  assert.deepEqual(await readdir(main.folder), []);
  assert.equal(main.errors, '');
});

test('after SIGKILL the photo service ends, too', async (t) => {
  const main = await startMain(t);
  const [photos] = childrenOf(main.child.pid);
  assert.equal((await request(main.url, '/fetch-photos')).body.photos, 5000);
  main.child.kill('SIGKILL');
  await main.exited;
  await until(() => !isRunning(photos));
});

test('when the photo service ends, everything else goes on', async (t) => {
  const main = await startMain(t);
  const [photos] = childrenOf(main.child.pid);
  process.kill(photos, 'SIGKILL');
  await until(() => main.errors.includes('the photo service ended with SIGKILL'));
  const { status, body } = await request(main.url, '/fetch-photos');
  assert.equal(status, 502);
  assert.match(body.error.message, /ECONNREFUSED/);
  assert.equal((await request(main.url, '/fibonacci?n=10')).body.first, '55');
});

test('a port that is taken is explained', async (t) => {
  const main = await startMain(t);
  const { port } = new URL(main.url);
  const { code, errors } = await runToEnd(['--port', port]);
  assert.equal(errors, `The example ended: port ${port} is taken; --port 0 takes any.\n`);
  assert.equal(code, 1);
});

test('an option that is wrong is explained', async () => {
  for (const [args, message] of [
    [['--port', '1.5'], '--port is "1.5"; allowed are whole numbers from 0 to 65535.'],
    [['--threads', '0'], '--threads is "0"; allowed are whole numbers from 1 to 256.'],
    [['--queue', '-1'], /^Option '--queue' argument is ambiguous/],
    [['--queue=-1'], '--queue is "-1"; allowed are whole numbers from 0 to 100000.'],
    [['--workers', '2'], '--workers is an option of --cluster.'],
    [['--photos', 'file:///etc'], '--photos is "file:///etc"; allowed are http and https URLs.'],
    [['--photos', 'photos'], '--photos is "photos"; allowed are http and https URLs.'],
    [['--data', ' '], '--data is " "; allowed are any text that is not empty.'],
    [['--host', ''], '--host is ""; allowed are any text that is not empty.'],
    [['--thread', '2'], "Unknown option '--thread'. --help lists the options."],
    [['2'], /^Unexpected argument '2'/],
  ]) {
    assert.throws(() => readArgs(args), { message });
  }
  const { code, errors } = await runToEnd(['--port', 'http']);
  assert.equal(errors, '--port is "http"; allowed are whole numbers from 0 to 65535.\n');
  assert.equal(code, 2);
  const absent = await runToEnd(['--data', '/no/such/folder', '--port', '0']);
  assert.match(absent.errors, /^The example ended: ENOENT.*\/no\/such\/folder/);
  assert.equal(absent.code, 1);
  const help = await runToEnd(['--help']);
  assert.deepEqual([help.code, help.errors], [0, '']);
  assert.match(help.output, /--photos URL/);
});
