// What is sampled, when, and how it is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monitor } from 'millrace/monitor';
import { ask, change, feature, serve, until, watch } from './support.js';

const id = `${process.pid}`;

/** Features that count how often a sample reads them. */
function counting() {
  const asked = { times: 0 };
  const features = {
    get ws() {
      asked.times += 1;
      return feature('ws');
    },
  };
  return { asked, features };
}

test('nothing is sampled before somebody watches, nor after', async (t) => {
  const { asked, features } = counting();
  const dashboard = await serve(t, { features });
  const atStart = asked.times;
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.equal(asked.times, atStart);
  const viewer = await watch(t, dashboard);
  const other = await watch(t, dashboard);
  await until(() => viewer.count('sample') >= 2 && other.count('sample') >= 2);
  viewer.close();
  const before = other.count('sample');
  await until(() => other.count('sample') > before);
  other.close();
  // A sample that is under way may still end.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const last = asked.times;
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(asked.times, last);
});

test('a viewer that comes back gets what it has missed, and no more', async (t) => {
  const dashboard = await serve(t);
  const stays = await watch(t, dashboard);
  const first = await watch(t, dashboard);
  await until(() => first.count('sample') >= 2);
  first.close();
  const { id: lastId } = first.events.findLast(({ event }) => event === 'sample');
  const before = stays.count('sample');
  await until(() => stays.count('sample') > before + 1);
  const again = await watch(t, dashboard, { 'last-event-id': lastId });
  assert.equal((await again.next('hello')).data.resumes, true);
  await until(() => again.count('sample') >= 2);
  const numbers = (events) =>
    events.filter(({ id }) => id).map(({ id }) => Number(id.split('-')[1]));
  assert.equal(numbers(again.events)[0], Number(lastId.split('-')[1]) + 1);
  // One of another server has missed everything.
  const stranger = await watch(t, dashboard, { 'last-event-id': '00000000-3' });
  assert.equal((await stranger.next('hello')).data.resumes, false);
  await until(() => stranger.count('sample') >= stays.count('sample'));
  assert.equal(numbers(stranger.events)[0], numbers(stays.events)[0]);
});

test('only changes are sent after the first sample', async (t) => {
  const held = monitor();
  t.after(() => held.stop());
  const dashboard = await serve(t);
  const viewer = await watch(t, dashboard);
  await until(() => viewer.count('sample') >= 3);
  const [first, second] = viewer.events.filter(({ event }) => event === 'sample');
  assert.equal(typeof first.data.values.process_resident_memory_bytes, 'number');
  assert.ok('loop_delay_ms{quantile="0.99"}' in first.data.values);
  assert.ok(Object.keys(second.data.values).length < Object.keys(first.data.values).length);
  assert.equal(first.data.process, id);
  assert.equal(viewer.events[0].event, 'retry');
});

test('snapshot and metrics need no viewer', async (t) => {
  const dashboard = await serve(t, { features: { ws: feature('ws') } });
  const { body } = await ask(dashboard, '/api/snapshot');
  assert.equal(body.processes.length, 1);
  const [own] = body.processes;
  assert.equal(own.id, id);
  assert.equal(own.role, 'main');
  assert.deepEqual(own.features, [{ name: 'ws', state: 'active', why: null }]);
  assert.ok(own.points.some(({ name }) => name === 'process_resident_memory_bytes'));
  const metrics = await ask(dashboard, '/metrics');
  assert.match(metrics.headers['content-type'], /^text\/plain; version=0\.0\.4/);
  assert.match(
    metrics.body,
    new RegExp(`^process_resident_memory_bytes\\{process="${id}"\\} \\d+$`, 'm'),
  );
});

test('a switch is seen by all viewers, with a mark', async (t) => {
  const ws = feature('ws');
  const dashboard = await serve(t, { features: { ws } });
  const viewer = await watch(t, dashboard);
  await viewer.next('sample');
  const { body } = await change(dashboard, { process: id, feature: 'ws', on: false });
  assert.deepEqual(body.switched, [
    { process: id, features: [{ name: 'ws', state: 'off', why: null }] },
  ]);
  const { data } = await viewer.next('mark');
  assert.deepEqual({ ...data, at: 0 }, { at: 0, process: id, feature: 'ws', on: false });
  await viewer.next('process', ({ features }) => features[0].state === 'off');
});
