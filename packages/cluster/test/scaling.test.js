/** The number of processes follows the load, and the CPUs of each follow that. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { startScaling } from '../dist/scaling.js';
import { start, still } from './program.js';

test('more processes under load, fewer when idle', async (t) => {
  // Samples are taken when the test says so, and none is old by then.
  const scaleInterval = 60_000;
  const options = { workers: { min: 1, max: 2 }, reserve: 0, scaleInterval };
  const thresholds = { scaleUp: 0.9, scaleDown: 0.8 };
  const how = { execArgv: still, env: { STEP_MS: String(scaleInterval) } };
  const settings = { ...options, ...thresholds, idleGrace: 60_000 };
  const program = await start(t, 'shares.js', settings, how);
  const { text: alone } = await program.get('/');
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  await program.get('/busy', { agent });
  const { utilization, ...up } = await scaled(program);
  assert.deepEqual(up, { from: 1, to: 2 });
  assert.ok(utilization > 0.9 && utilization <= 1);
  await program.next('ready');
  const shared = (await program.call('stats')).processes.map(({ cpus }) => cpus);
  // The one that has been there was told.
  await program.wrote(`told ${shared[0]}`);
  const connections = await connectAll(t, program);
  await program.get('/calm', { agent });
  const down = await scaled(program);
  assert.deepEqual([down.from, down.to], [2, 1]);
  // Its CPUs are its own until it has ended.
  const { processes } = await program.call('stats');
  assert.deepEqual(
    processes.map(({ state, cpus }) => [state, cpus]),
    [
      ['ready', shared[0]],
      ['draining', shared[1]],
    ],
  );
  for (const agent of connections) agent.destroy();
  await program.wrote(`told ${alone}`);
  assert.equal((await program.call('stats')).wanted, 1);
  assert.equal((await program.get('/')).status, 200);
});

/** Has samples taken until the number of processes is another one. */
async function scaled(program) {
  let event = null;
  program.next('scale').then((found) => {
    event = found;
  });
  for (;;) {
    // It answers after it has told of a change.
    const { processes } = await program.call('stats');
    if (event !== null) return event;
    // Time in which a process is idle, or not.
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const { pid, state } of processes) if (state === 'ready') await program.step(pid);
    await program.step(program.child.pid);
  }
}

/** Makes connections that stay, until each of two processes has one. */
async function connectAll(t, program) {
  const agents = [];
  t.after(() => {
    for (const agent of agents) agent.destroy();
  });
  const pids = new Set();
  while (pids.size < 2) {
    const agent = new http.Agent({ keepAlive: true });
    agents.push(agent);
    pids.add((await program.get('/pid', { agent })).text);
  }
  return agents;
}

const options = { min: 1, max: 4, scaleUp: 0.7, scaleDown: 0.4, scaleInterval: 5 };

test('a process that has told nothing for long is as busy as can be', async () => {
  const resized = await new Promise((resolve) => {
    const steady = [{ utilization: { value: 0, at: 0 }, readyMs: 1e6 }];
    // It keeps no process alive.
    const timer = setInterval(() => {}, 1000);
    const resize = (...change) => {
      stop();
      clearInterval(timer);
      resolve(change);
    };
    const stop = startScaling(options, () => steady, resize);
  });
  assert.deepEqual(resized, [2, 1]);
});
