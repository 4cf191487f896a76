/** New code without losing a request. Injected: code that does not start. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { application, get, load, start } from './program.js';

test('no request is lost in reloads under load, on connections that are kept', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2, idleGrace: 60_000 });
  const before = await program.pids();
  const quick = load(t, program.port, { clients: 8 });
  const slow = load(t, program.port, { clients: 8, path: '/slow?ms=30' });
  await quick.more(100);
  await program.call('reload');
  await quick.more(100);
  // And by the signal.
  program.child.kill('SIGHUP');
  await program.next('reload');
  await program.next('reload');
  await Promise.all([quick.more(100), slow.more(100)]);
  const after = await program.pids();
  const served = new Set();
  for (const running of [quick, slow]) {
    const { failures, answers, pids } = await running.stop();
    assert.deepEqual(failures, [], `of ${answers}`);
    for (const pid of pids) served.add(pid);
  }
  assert.equal(served.size, 6);
  for (const pid of [...before, ...after]) assert.ok(served.has(pid));
  const { deaths, reloads } = await program.call('stats');
  assert.deepEqual([deaths, reloads], [0, 2]);
});

test('the new processes run the new code; code that does not start changes nothing', async (t) => {
  const file = await application(t, version(1));
  const program = await start(t, file, { workers: 2, reloadConcurrency: 2, idleGrace: 0 });
  assert.equal((await program.get()).text, '1');

  await writeFile(file, version(2));
  await program.call('reload');
  assert.equal((await program.get()).text, '2');

  const pids = await program.pids();
  await writeFile(file, 'throw new Error("bad on purpose");');
  const failure = await program.call('reload').catch((error) => error);
  assert.equal(failure.code, 'MILLRACE_E_WORKER');
  assert.match(failure.message, /exited with code 1 before it listened: bad on purpose; 0 of 2/);
  assert.equal(await program.next('reload-failed'), failure.message);
  assert.deepEqual((await program.pids()).sort(), pids.sort());
  assert.equal((await program.get()).text, '2');

  await writeFile(file, version(3));
  await program.call('reload');
  assert.equal((await program.get()).text, '3');
});

test('calls during a reload are one more reload', async (t) => {
  const program = await start(t, 'plain.js', { idleGrace: 0 });
  await program.together(['reload', 'reload', 'reload']);
  assert.equal((await program.call('stats')).reloads, 2);
});

test('a port that the new code does not listen on is closed', async (t) => {
  const other = `import { once } from 'node:events';
    const other = createServer((req, res) => res.end('other')).listen(0);
    await once(other, 'listening');
    console.log('other port ' + other.address().port + '.');`;
  const file = await application(t, version(1) + other);
  const program = await start(t, file, { idleGrace: 0 });
  await program.wrote('.');
  const [, port] = /other port (\d+)\./.exec(program.stdout);
  assert.equal((await get(port, '/')).text, 'other');
  await writeFile(file, version(2));
  await program.call('reload');
  await assert.rejects(get(port, '/'), { code: 'ECONNREFUSED' });
  assert.equal((await program.get()).text, '2');
});

test('a reload ends a crash loop', async (t) => {
  const file = await application(t, version(1));
  const program = await start(t, file, { workers: 2, crashLimit: 1, idleGrace: 0 });
  await writeFile(file, 'process.exit(3)');
  process.kill((await program.pids())[0], 'SIGKILL');
  assert.equal((await program.next('crash-loop')).ready, 1);
  await writeFile(file, version(2));
  await program.call('reload');
  const { status, ready } = await program.call('stats');
  assert.deepEqual([status, ready], ['ok', 2]);
  assert.equal((await program.get()).text, '2');
  // Deaths count from the beginning.
  while ((await program.call('stats')).processes.length > 2);
  process.kill((await program.pids())[0], 'SIGKILL');
  for (let i = 0; i < 3; i++) await program.next('ready');
});

const version = (number) =>
  `import { createServer } from 'node:http';
  export default createServer((req, res) => res.end('${number}'));`;
