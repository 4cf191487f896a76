// Other processes and threads.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { feedDashboard } from 'millrace/dashboard';
import { until } from '../../../../../scripts/lib/program-tests.js';
import { ask, change, openFeed, processes, processInfo, serve, watch } from './support.js';

const feeder = fileURLToPath(new URL('feeder.js', import.meta.url));

function startFeeder(t, { port, feedToken }, how = '') {
  const child = fork(feeder, [String(port), feedToken, how]);
  t.after(() => child.kill('SIGKILL'));
  return child;
}

const find = async (dashboard, matches) =>
  until(async () =>
    (await processes(dashboard)).find((each) => matches(each) && each.points.length > 0),
  );

test('a child and a thread are sampled, and switched one by one or together', async (t) => {
  const dashboard = await serve(t);
  const child = startFeeder(t, dashboard);
  const worker = new Worker(feeder, { argv: [String(dashboard.port), dashboard.feedToken] });
  t.after(() => worker.terminate());
  const ofChild = await find(dashboard, ({ pid }) => pid === child.pid);
  const ofThread = await find(dashboard, ({ role }) => role === 'thread');
  assert.equal(ofChild.role, 'worker');
  assert.equal(ofChild.title, 'feeder.js');
  assert.equal(ofThread.id, `${process.pid}/${worker.threadId}`);
  const viewer = await watch(t, dashboard);
  for (const { id } of [ofChild, ofThread])
    await viewer.next('sample', (data) => data.process === id);

  const stateOf = async (id) =>
    (await processes(dashboard)).find((each) => each.id === id).features[0].state;
  await change(dashboard, { process: ofChild.id, feature: 'fs', on: false });
  assert.deepEqual([await stateOf(ofChild.id), await stateOf(ofThread.id)], ['off', 'active']);
  const { body } = await change(dashboard, { process: 'all', feature: 'fs', on: false });
  assert.equal(body.switched.length, 2);
  assert.deepEqual([await stateOf(ofChild.id), await stateOf(ofThread.id)], ['off', 'off']);
  const unknown = await change(dashboard, { process: ofChild.id, feature: 'none', on: true });
  assert.equal(unknown.status, 409);
  assert.match(unknown.body.switched[0].error, /no such feature/);
  const { body: text } = await ask(dashboard, '/metrics');
  assert.ok(text.includes(`{process="${ofThread.id}"}`));

  child.kill('SIGKILL');
  await viewer.next('process', ({ id, endedAt }) => id === ofChild.id && endedAt !== null);
});

test('a feed finds the dashboard again on the same port', async (t) => {
  for (let tries = 1; ; tries++) {
    const first = await serve(t);
    const child = startFeeder(t, first);
    await find(first, ({ pid }) => pid === child.pid);
    await first.close();
    const { port, feedToken } = first;
    const second = await serve(t, { port, feedToken }).catch((error) => {
      // Another program may have taken the port.
      if (tries === 5) throw error;
    });
    if (second === undefined) continue;
    await find(second, ({ pid }) => pid === child.pid);
    return;
  }
});

test('a feed keeps nothing alive, and gives up where it is refused', async (t) => {
  const dashboard = await serve(t);
  const child = fork(feeder, [String(dashboard.port), dashboard.feedToken, 'ends']);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(code, 0);
  const refused = feedDashboard({ port: dashboard.port, token: 'a wrong token' });
  t.after(() => refused.close());
  const byHand = await openFeed(t, dashboard, 'a wrong token');
  assert.match(byHand.text, /^HTTP\/1\.1 401 /);
  const running = async () =>
    (await processes(dashboard)).filter(({ endedAt }) => endedAt === null).length;
  await until(async () => (await running()) === 1);
});

test('lines that cannot be read are dropped and counted; the feed goes on', async (t) => {
  const dashboard = await serve(t);
  const viewer = await watch(t, dashboard);
  const { socket } = await openFeed(t, dashboard);
  const send = (line) =>
    socket.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  send({ type: 'hello', process: processInfo, features: [] });
  await viewer.next('process', ({ id }) => id === processInfo.id);
  const sample = { type: 'sample', at: Date.now(), points: [], features: [] };
  const stall = {
    ...{ id: 1, startedAt: 1, duration: 200, state: 'computing', systemCall: null },
    ...{ at: null, builtin: null, caller: null, seen: null },
  };
  const bad = [
    '{"type":',
    '[]',
    'null',
    { type: 'other' },
    { ...sample, points: [{ name: 'a b', labels: {}, value: 1 }] },
    { ...sample, points: [{ name: 'a', labels: { 'x"': 'y' }, value: 1 }] },
    { ...sample, points: [{ name: 'a', labels: {}, value: '1' }] },
    { ...sample, features: [{ name: 'ws', state: 'odd', why: null }] },
    { ...sample, points: undefined },
    { ...sample, watch: { port: 0, recent: [] } },
    { ...sample, watch: { port: 7118, recent: [{ id: 1 }] } },
    { ...sample, watch: { port: 7118, recent: [{ ...stall, at: { function: 'f' } }] } },
    { type: 'switched', request: 99, features: [] },
    'x'.repeat(3_000_000),
  ];
  for (const line of bad) send(line);
  const shown = () => processes(dashboard).then((all) => all.find(({ id }) => id === '77/1'));
  await until(async () => (await shown()).droppedLines === bad.length);
  const points = [{ name: 'queue_depth', labels: { priority: 'high' }, value: 3 }];
  const known = { port: 7118, recent: [stall] };
  socket.on('data', () => send({ ...sample, points, watch: known }));
  const { data } = await viewer.next('sample', (each) => each.process === '77/1');
  assert.deepEqual(data.values, { 'queue_depth{priority="high"}': 3 });
  const told = await viewer.next('watch', (each) => each.process === '77/1');
  assert.deepEqual(told.data.watch, known);
});

test('a first line that names no process ends the feed', async (t) => {
  const dashboard = await serve(t);
  const wrong = [
    null,
    { ...processInfo, id: '<b>' },
    { ...processInfo, id: '78/1' },
    { ...processInfo, pid: -77 },
    { ...processInfo, role: 'boss' },
  ];
  for (const process of wrong) {
    const feed = await openFeed(t, dashboard);
    feed.socket.write(`${JSON.stringify({ type: 'hello', process, features: [] })}\n`);
    await until(() => feed.closed);
  }
  assert.equal((await processes(dashboard)).length, 1);
});

test('a process that ends in the middle of a line has ended; titles have no characters that are not seen', async (t) => {
  const dashboard = await serve(t);
  const { socket } = await openFeed(t, dashboard);
  const process = { ...processInfo, title: 'a\u202eb\nc' };
  socket.write(`${JSON.stringify({ type: 'hello', process, features: [] })}\n{"type":"sam`);
  const shown = async () => (await processes(dashboard)).find(({ id }) => id === '77/1');
  const { title } = await until(shown);
  assert.equal(title, 'a\ufffdb\ufffdc');
  socket.destroy();
  await until(async () => (await shown()).endedAt !== null);
});

test('nobody takes the place of the process that serves', async (t) => {
  const dashboard = await serve(t);
  let connections = 0;
  const counted = () => {
    connections += 1;
  };
  subscribe('net.client.socket', counted);
  t.after(() => unsubscribe('net.client.socket', counted));
  const feed = feedDashboard({ port: dashboard.port, token: dashboard.feedToken });
  t.after(() => feed.close());
  await until(() => connections >= 3);
  const [own] = await processes(dashboard);
  assert.equal(own.role, 'main');
  assert.equal(own.endedAt, null);
});

test('threads of a pool are left out, as the pool tells of them', async (t) => {
  const dashboard = await serve(t);
  const env = {
    ...process.env,
    MILLRACE_FEED: `127.0.0.1:${dashboard.port}`,
    MILLRACE_FEED_TOKEN: dashboard.feedToken,
    MILLRACE_FEED_PID: '1',
  };
  const child = fork(fileURLToPath(new URL('pooling.js', import.meta.url)), { env });
  t.after(() => child.kill('SIGKILL'));
  const [threads] = await once(child, 'message');
  await find(dashboard, ({ id }) => id === `${child.pid}/${threads.other}`);
  const ids = (await processes(dashboard)).map(({ id }) => id);
  assert.ok(!ids.includes(`${child.pid}/${threads.ofPool}`), ids.join());
});

test('workers of a cluster', async (t) => {
  const primary = fork(fileURLToPath(new URL('clustered.js', import.meta.url)));
  t.after(() => primary.kill('SIGKILL'));
  const [{ port }] = await once(primary, 'message');
  const workers = async () =>
    (await processes({ port })).filter(({ role, endedAt }) => role === 'cluster' && !endedAt);
  const [first] = await until(async () => {
    const there = await workers();
    return there.length === 2 && there;
  });
  assert.equal(first.title, 'clustered.js');
  process.kill(first.pid, 'SIGKILL');
  await until(async () => (await workers()).length === 1);
});

test('a report that throws costs its process a sample, not its life', async (t) => {
  const dashboard = await serve(t, {
    report() {
      throw new Error('no report');
    },
  });
  const child = startFeeder(t, dashboard, 'unreported');
  const ofChild = await find(dashboard, ({ pid }) => pid === child.pid);
  const ofThis = await find(dashboard, ({ pid }) => pid === process.pid);
  assert.deepEqual([ofChild.endedAt, ofThis.endedAt], [null, null]);
});
