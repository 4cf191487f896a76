import assert from 'node:assert/strict';
import test from 'node:test';
import { measure } from '../../../packages/lab/experiment/measure.js';
import { misplaced, refusalOfRound } from '../../../packages/lab/experiment/refusal.js';
import { cleanupFor } from '../../../packages/lab/experiment/test/support.js';
import { startServer } from '../../../packages/lab/run/server.js';
import { FILE_ID } from '../chat/file.js';
import { arms } from '../chat/service.js';
import { loadNamed } from '../lib/named.js';

test('a small round of chat-equal: all arms do the same, and each is what it is called', async (t) => {
  const { control, treatments, load, metrics } = await loadNamed('chat-equal');
  const switches = await loadNamed('chat-switches');
  const memory = await loadNamed('chat-memory');
  const small = { ...load, connections: 20, rooms: 2, warmup: 0.2, seconds: 0.4 };
  const params = { label: 'small', rate: 4000, size: 'quick', seed: 1 };
  const runs = [];
  for (const arm of [control, ...treatments]) {
    const role = arm === control ? 'control' : 'treatment';
    const cleanup = cleanupFor(t);
    const what = { role, arm, load: small, params, round: 1, collections: true };
    const run = await measure({ ...what, cleanup });
    assert.deepEqual(run.faults, [], arm.name);
    assert.equal(misplaced(run, arm), null, arm.name);
    for (const { name, of } of [...metrics, ...switches.metrics, ...memory.metrics]) {
      if (name === 'syscalls_per_msg') continue; // not where perf may not count
      const value = of(run);
      // A busy machine makes the generator late, and then there are no latencies.
      if (run.late && value === null) continue;
      assert.ok(Number.isFinite(value) && value >= 0, `${arm.name}: ${name} is ${value}`);
    }
    runs.push(run);
  }
  assert.equal(refusalOfRound(runs), null);
  assert.equal(runs.length, 6);
});

test('a small round of chat-requests: arms answer alike, and the batching ones share queries and commits', async (t) => {
  const { control, treatments, load, cases, metrics } = await loadNamed('chat-requests');
  const small = { ...load, connections: 20, warmup: 0.2, seconds: 0.5 };
  for (const at of cases) {
    const params = { ...at, size: 'quick', seed: 1 };
    const runs = [];
    for (const arm of [control, ...treatments]) {
      const role = arm === control ? 'control' : 'treatment';
      const cleanup = cleanupFor(t);
      const run = await measure({ role, arm, load: small, params, round: 1, cleanup });
      assert.deepEqual(run.faults, [], `${at.label}, ${arm.name}`);
      assert.equal(misplaced(run, arm), null, `${at.label}, ${arm.name}`);
      for (const { name, of } of metrics) {
        const value = of(run);
        const what = `${at.label}, ${arm.name}: ${name} is ${value}`;
        assert.ok(Number.isFinite(value) && value >= 0, what);
      }
      const { history_requests, history_queries } = run.stats;
      if (at.label === 'history') {
        assert.equal(history_queries < history_requests, arm !== control, arm.name);
        assert.notEqual(run.work[0].payload, null);
      }
      runs.push(run);
    }
    assert.equal(refusalOfRound(runs), null, at.label);
    assert.equal(runs.length, 4);
  }
});

test('the chat of the HTTP requests has its rooms and a page of history', async (t) => {
  const { command, env } = arms({ stocked: true }).adaptive;
  const cleanup = cleanupFor(t);
  const server = await startServer({ name: 'the chat', command, env, cleanup });
  const { messages } = await server.get('/api/rooms/archive/messages');
  assert.equal(messages.length, 50);
  const post = (room) =>
    fetch(new URL(`/api/rooms/${room}/messages`, server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ from: 'somebody', text: 'hello' }),
    });
  const answer = await post('lobby');
  assert.equal(answer.status, 201);
  assert.deepEqual(await answer.json(), { id: 1_000_001 });
  assert.equal((await post('elsewhere')).status, 404);
  const file = await fetch(new URL(`/api/rooms/shelf/files/${FILE_ID}`, server.url));
  assert.deepEqual([file.status, (await file.arrayBuffer()).byteLength], [200, 4096]);
  assert.equal((await server.get('/stats')).insert_items, 1);
  await server.stop();
});
