// What is sampled, when, and how it is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../../scripts/lib/program-tests.js';
import { ask, change, feature, serve, watch } from './support.js';

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

/** The time of two samples: until another dashboard of this process, which is watched, has taken them. */
async function twoSamples(t) {
  const other = await watch(t, await serve(t));
  await until(() => other.count('sample') >= 2);
  other.close();
}

test('nothing is sampled before somebody watches, nor after', async (t) => {
  const { asked, features } = counting();
  const dashboard = await serve(t, { features });
  const atStart = asked.times;
  await twoSamples(t);
  assert.equal(asked.times, atStart);
  const viewer = await watch(t, dashboard);
  const other = await watch(t, dashboard);
  await until(() => viewer.count('sample') >= 2 && other.count('sample') >= 2);
  viewer.close();
  const before = other.count('sample');
  await until(() => other.count('sample') > before);
  other.close();
  // The server may hear of that a sample later.
  await twoSamples(t);
  const last = asked.times;
  await twoSamples(t);
  assert.equal(asked.times, last);
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
