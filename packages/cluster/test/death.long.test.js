/** What happens when processes die. Injected: SIGKILL, uncaught errors, code that does not start or never listens. */
import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { application, fixture, launch, load, start } from './program.js';

test('a process that is killed is replaced at once, in the same slot', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2 });
  const [first, second] = await program.pids();
  process.kill(second, 'SIGKILL');
  const death = await program.next('death');
  assert.deepEqual(death, {
    slot: 2,
    pid: second,
    code: null,
    signal: 'SIGKILL',
    isLate: false,
    reason: null,
  });
  const ready = await program.next('ready');
  assert.equal(ready.slot, 2);
  assert.deepEqual(await program.pids(), [first, ready.pid]);
  const { deaths, status, processes } = await program.call('stats');
  assert.deepEqual([deaths, status, processes[1].restarts], [1, 'ok', 1]);
});

test('clients wait while there is no process', async (t) => {
  const program = await start(t, 'plain.js');
  const [pid] = await program.pids();
  process.kill(pid, 'SIGKILL');
  await program.next('death');
  const { text } = await program.get();
  assert.notEqual(Number(text), pid);
});

test('a connection that a process has not taken when it is killed goes to another one, with all that was sent', async (t) => {
  const program = await start(t, 'plain.js');
  const blocked = program.get('/block?ms=600000');
  const failure = assert.rejects(blocked, { code: 'ECONNRESET' });
  await program.wrote('blocked');
  const [pid] = await program.pids();
  const waiting = Array.from({ length: 5 }, () => program.get());
  while ((await program.call('stats')).waitingConnections < 5);
  process.kill(pid, 'SIGKILL');
  await failure;
  const answers = await Promise.all(waiting);
  assert.deepEqual(
    answers.map(({ text }) => Number(text)),
    Array(5).fill((await program.pids())[0]),
  );
});

test('under load only the requests that were in the process are lost', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2 });
  const clients = 8;
  const running = load(t, program.port, { clients });
  const kills = 3;
  for (let i = 0; i < kills; i++) {
    await running.more(100);
    process.kill((await program.pids())[i % 2], 'SIGKILL');
    await program.next('ready');
  }
  await running.more(100);
  const { failures, answers } = await running.stop();
  // Each client has one request at a time: no more than those of a process can be in it.
  assert.ok(failures.length <= kills * clients, `${failures.length} of ${answers} failed`);
  for (const code of failures) assert.ok(['ECONNRESET', 'EPIPE'].includes(code), code);
});

test('its error is reported', async (t) => {
  const program = await start(t, 'plain.js');
  await program.get('/throw').catch(() => {});
  const { reason, code } = await program.next('death');
  assert.deepEqual([reason, code], ['thrown on purpose', 1]);
});

test('code that does not start is a crash loop: it is shown, and the program ends', async (t) => {
  const file = await application(t, 'const a = 1;\nexport default ) {');
  const program = launch(t, fixture('primary.js'), [file, { crashLimit: 3, respawnDelay: 1 }]);
  const { code, message } = await program.next('failed');
  assert.equal(code, 'MILLRACE_E_WORKER');
  assert.match(message, /no process is left/);
  assert.deepEqual(await program.exited, { code: 1, signal: null });
  assert.equal(program.stderr.match(/^SyntaxError/gm).length, 3, program.stderr);
  assert.match(program.stderr, /app\.mjs:2/);
  assert.match(program.stderr, /crash loop: 3 deaths/);
});

test('code that ends itself as it starts is a crash loop, too', async (t) => {
  const file = await application(
    t,
    "process.kill(process.pid, 'SIGTERM'); await new Promise(() => {});",
  );
  const program = launch(t, fixture('primary.js'), [file, { crashLimit: 2, respawnDelay: 1 }]);
  assert.equal((await program.next('failed')).code, 'MILLRACE_E_WORKER');
  assert.deepEqual(await program.exited, { code: 1, signal: null });
  assert.match(program.stderr, /crash loop: 2 deaths/);
});

test('a process without file descriptors is handed connections again when it has some', async (t) => {
  // Few, and soon used up.
  const file = await application(t, '#!/bin/sh\nulimit -n 64 && exec "$NODE" "$@"');
  await chmod(file, 0o755);
  const how = { execPath: file, env: { NODE: process.execPath } };
  const program = await start(t, 'plain.js', { idleGrace: 0 }, how);
  const sockets = [];
  const isFull = () => program.stderr.includes('did not get a connection');
  while (!isFull()) {
    const socket = connect(program.port, '127.0.0.1').on('error', () => {});
    t.after(() => socket.destroy());
    sockets.push(socket);
    const isTaken = async () =>
      (await program.call('stats')).processes[0].accepted === sockets.length;
    // One after the other: the primary has no more descriptors than that.
    while (!(await isTaken()) && !isFull());
  }
  for (const socket of sockets) socket.destroy();
  assert.equal((await program.get()).status, 200);
  assert.equal((await program.call('stats')).deaths, 0);
});

test('a process that does not listen in time is killed, and that is a crash', async (t) => {
  const options = { startTimeout: 100, crashLimit: 1 };
  const program = launch(t, fixture('primary.js'), [fixture('never.js'), options]);
  await program.next('failed');
  await program.exited;
  assert.match(program.stderr, /killed: startTimeout/);
});

test('in a crash loop what lives goes on, and the rest comes back when the window is over', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2, crashLimit: 1, crashWindow: 60_000 });
  for (let i = 0; i < 2; i++) {
    // The second time it is the one that is starting.
    const { processes } = await program.call('stats');
    process.kill(processes.find(({ slot }) => slot === 2).pid, 'SIGKILL');
    await program.next('death');
  }
  assert.deepEqual(await program.next('crash-loop'), { deaths: 2, ready: 1 });
  assert.equal((await program.call('stats')).status, 'degraded');
  assert.equal((await program.get()).status, 200);
  assert.equal((await program.next('ready')).slot, 2);
  assert.equal((await program.call('stats')).status, 'ok');
});

test('a crash loop that leaves nobody ends the program with a code', async (t) => {
  const program = await start(t, 'plain.js', { crashLimit: 1 });
  process.kill((await program.pids())[0], 'SIGKILL');
  assert.deepEqual(await program.next('crash-loop'), { deaths: 1, ready: 0 });
  assert.deepEqual(await program.exited, { code: 1, signal: null });
  assert.match(program.stderr, /no process is left/);
});
