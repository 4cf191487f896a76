/** The number of processes follows the load, and the CPUs of each follow that. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { startScaling } from '../dist/scaling.js';
import { load, start } from './program.js';

test('more processes under load, fewer when idle', async (t) => {
  const program = await start(t, 'shares.js', {
    workers: { min: 1, max: 2 },
    reserve: 0,
    // A process that tells nothing for two of them, as on a busy machine, counts as a busy one.
    scaleInterval: 250,
    idleGrace: 60_000,
    drainTimeout: 60_000,
  });
  const { text: alone } = await program.get('/');
  const running = load(t, program.port, { clients: 2, path: '/block?ms=30' });
  const { utilization, ...up } = await program.next('scale');
  assert.deepEqual(up, { from: 1, to: 2 });
  assert.ok(utilization > 0.7 && utilization <= 1);
  await program.next('ready');
  const shared = (await program.call('stats')).processes.map(({ cpus }) => cpus);
  // The one that has been there was told.
  await program.wrote(`told ${shared[0]}`);
  const connections = await connectAll(t, program);
  await running.stop();
  const down = await program.next('scale');
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
