import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { misplaced } from '../../experiment/active.js';
import { loadExperiment } from '../../experiment/files.js';
import { loads } from '../../experiment/loads/index.js';
import { measure } from '../../experiment/measure.js';
import { refusalOfRound } from '../../experiment/refusal.js';
import { cleanupFor } from '../../experiment/test/support.js';
import { startServer } from '../../run/server.js';
import { FILE_ID } from '../chat/file.js';
import { growth } from '../chat/growth.js';
import { CPU, MESSAGES } from '../chat/paper.js';
import { arms } from '../chat/service.js';

const names = readdirSync(new URL('../', import.meta.url))
  .filter((file) => /^chat-.*\.js$/.test(file))
  .map((file) => file.slice(0, -'.js'.length));

const allowedBy = (form, key) => (form[key] ?? form[`${key}?`])[1];

test('each experiment of the chat is well-formed', async (t) => {
  assert.equal(names.length, 9);
  for (const name of names) {
    await t.test(name, async () => {
      const { control, treatments, load, cases, claims } = await loadExperiment(name);
      assert.equal(control.name, 'direct');
      assert.ok(treatments.some((arm) => arm.name === 'adaptive'));
      assert.ok(claims.length > 0);
      assert.ok(cases.some(({ quick = true }) => quick));
      const { form } = loads[load.kind];
      for (const at of cases) {
        for (const quick of [true, false]) {
          const params = { ...at, quick, seed: 1 };
          for (const [key, value] of Object.entries(load)) {
            if (['kind', 'timeoutS', 'mayCrash'].includes(key)) continue;
            const settled = typeof value === 'function' ? value(params) : value;
            if (settled === undefined) continue;
            assert.ok(allowedBy(form, key)(settled), `${name}, ${at.label}: ${key} is ${settled}`);
          }
          if (load.rooms) assert.equal(load.connections(params) / load.rooms(params), 50);
        }
      }
    });
  }
});

test('what is less by a share is a ratio above 1', () => {
  assert.equal(MESSAGES.toFixed(4), '1.5882');
  assert.equal(CPU.toFixed(3), '1.576');
});

test('an arm is what the server says and what it has counted', () => {
  const { direct, fixed50, adaptive } = arms();
  const run = (policy, socket_writes, insert_batches = 10, probe = null) => ({
    stats: { policy, delivered_frames: 500, socket_writes, insert_items: 10, insert_batches },
    probe,
  });
  assert.equal(direct.isOn(run('direct', 500)), false);
  assert.equal(direct.isOn(run('adaptive', 500)), true);
  const probe = { millrace: { rooms: { deliveries: 0 } } };
  assert.equal(direct.isOn(run('direct', 500, 10, probe)), true);
  assert.equal(adaptive.isOn(run('adaptive', 500)), false);
  assert.equal(adaptive.isOn(run('adaptive', 499)), true);
  assert.equal(adaptive.isOn(run('adaptive', 500, 9)), true);
  assert.equal(adaptive.isOn(run('direct', 499)), false);
  assert.equal(fixed50.isOn(run('adaptive', 499)), false);
  assert.equal(adaptive.isOn({ stats: null, probe: null }), false);
  assert.equal(arms({ gathers: false }).adaptive.isOn(run('adaptive', 500)), true);
});

test('growth with load is told only where the intervals lie apart', () => {
  const at = (label, ahead, lo, hi, arm = 'adaptive') => ({
    ...{ case: label, arm, metric: 'cpu', ahead, lo, hi },
  });
  const said = (...figures) => growth({ figures }, 'cpu', 'CPU');
  assert.deepEqual(said(at('1', 1, 0.9, 1.1), at('2', 2, 1.5, 2.5)), [
    'CPU, adaptive, times better than the control: 1.00 at 1, 2.00 at 2; the gain grows with load.',
  ]);
  assert.match(said(at('1', 2, 1.5, 2.5), at('2', 1, 0.9, 1.1))[0], /shrinks with load/);
  assert.match(said(at('1', 1, 0.5, 2), at('2', 2, 1.5, 2.5))[0], /cannot be told/);
  assert.match(said(at('1', 1, null, null), at('2', 2, 1.5, 2.5))[0], /too few rounds/);
  assert.deepEqual(said(at('1', 1, 0.9, 1.1)), []);
  assert.deepEqual(said(at('1', null, null, null), at('2', 1, 0.9, 1.1)), []);
});

test('a small round of chat-equal: all arms do the same, and each is what it is called', async (t) => {
  const { control, treatments, load, metrics } = await loadExperiment('chat-equal');
  const switches = await loadExperiment('chat-switches');
  const memory = await loadExperiment('chat-memory');
  const small = { ...load, connections: 20, rooms: 2, warmup: 0.2, seconds: 0.4 };
  const params = { label: 'small', rate: 4000, quick: true, seed: 1 };
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
  assert.equal(runs.length, 5);
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
