import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { clusterHealth, healthHandler, onReport } from '@millrace/cluster';
import { get, start } from './program.js';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test('each process can tell the health of all', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2 });
  for (let i = 0; i < 4; i++) await program.get();
  const pids = await program.pids();
  let asked = 0;
  let health;
  /** Reports whether all have reported, since the last question, and have closed the connections before it. */
  const isComplete = ({ processes, total }) =>
    processes?.every(({ report }) => report !== null) &&
    total.values.answers === 4 + asked &&
    total.connections === 1;
  // On a busy machine a process may need longer than it has. The next answer is a new one.
  do {
    if (asked > 0) await sleep(600);
    const { status, headers, text } = await program.get('/health');
    assert.ok(status === 200 || status === 503, `${status}`);
    assert.equal(headers['content-type'], 'application/json');
    health = JSON.parse(text);
    asked++;
  } while (!isComplete(health));
  assert.deepEqual([health.status, health.wanted, health.ready], ['ok', 2, 2]);
  assert.deepEqual(
    health.processes.map(({ pid }) => pid),
    pids,
  );
  const { total, processes } = health;
  for (const key of ['rss', 'heapUsed', 'connections']) {
    assert.equal(
      total[key],
      processes.reduce((sum, { report }) => sum + report[key], 0),
      key,
    );
  }
  for (const key of ['loopUtilization', 'loopDelayMs']) {
    for (const { report } of processes) assert.ok(report[key] >= 0, key);
  }
  assert.ok(total.maxLoopUtilization <= 1);
});

test('a process that is blocked keeps nobody from an answer', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2 });
  const blocked = program.get('/block?ms=600000').catch(() => {});
  await program.wrote('blocked');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  let answer;
  // On a busy machine the other one may need longer than it has, too.
  do answer = JSON.parse((await program.get('/all?ms=2000', { agent })).text);
  while (!answer.processes?.some(({ report }) => report !== null));
  const { processes, total } = answer;
  assert.deepEqual(processes.map(({ report }) => report === null).sort(), [false, true]);
  assert.equal(total.connections, 1);
  for (const pid of await program.pids()) process.kill(pid, 'SIGKILL');
  await blocked;
});

test('as long as it may take, it is waited for', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2 });
  const blocked = program.get('/block?ms=800');
  await program.wrote('blocked');
  const { processes } = JSON.parse((await program.get('/all')).text);
  assert.deepEqual(
    processes.map(({ report }) => report === null),
    [false, false],
  );
  await blocked;
});

test('questions at the same time have the same answer', async (t) => {
  const program = await start(t, 'plain.js', { workers: 2 });
  const count = 12;
  const agents = Array.from({ length: count }, () => new http.Agent({ keepAlive: true }));
  t.after(() => agents.forEach((agent) => void agent.destroy()));
  await Promise.all(agents.map((agent) => program.get('/', { agent })));
  // The primary has all questions before it has an answer to one.
  program.child.kill('SIGSTOP');
  const asked = agents.map((agent) => program.get('/health', { agent }));
  while ((program.stdout.match(/asked/g) ?? []).length < count) await sleep(5);
  const all = program.together(Array(count).fill('health'));
  await Promise.all([...asked, all]);
  let questions = 0;
  let health;
  do {
    health = await program.call('health');
    questions++;
  } while (health.processes.some(({ report }) => report === null));
  // One for each process and one for the primary, and those behind them: not one for each of 2 × count.
  assert.ok(health.total.values.reports <= 2 * (3 + questions), `${health.total.values.reports}`);
});

test('without a primary it is 503', async (t) => {
  const program = await start(t, 'plain.js', { idleGrace: 60_000 });
  const agents = [0, 1].map(() => new http.Agent({ keepAlive: true }));
  t.after(() => agents.forEach((agent) => void agent.destroy()));
  await Promise.all(agents.map((agent) => program.get('/', { agent })));
  const ask = async (agent, path) => {
    const { status, text } = await get(program.port, path, { agent });
    return [status, JSON.parse(text).error.code];
  };
  // It is asked, and killed before it answers.
  program.child.kill('SIGSTOP');
  const asked = ask(agents[0], '/all?ms=60000');
  await program.wrote('asked');
  program.child.kill('SIGKILL');
  assert.equal((await asked)[1], 'MILLRACE_E_CLOSED');
  assert.deepEqual(await ask(agents[1], '/health'), [503, 'MILLRACE_E_CLOSED']);
});

test('without a cluster it is that of the program', async (t) => {
  t.after(onReport(() => ({ a: 1 })));
  t.after(onReport(() => ({ a: 2, b: 3 })));
  // What an application may do wrong.
  t.after(
    onReport(() => {
      throw new Error('thrown on purpose');
    }),
  );
  t.after(onReport(() => ({ a: '4', b: Number.NaN, c: undefined })));
  const { status, processes, total } = await clusterHealth();
  assert.equal(status, 'ok');
  assert.deepEqual(
    processes.map(({ pid }) => pid),
    [process.pid],
  );
  assert.deepEqual(total.values, { a: 3, b: 3 });
  const server = http.createServer(healthHandler).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  assert.equal((await get(server.address().port, '/')).status, 200);
});

test('a timeout that is none', async () => {
  await assert.rejects(clusterHealth(0), { code: 'MILLRACE_E_INVALID_OPTION' });
});
