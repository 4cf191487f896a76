// What goes to a viewer: what it has not got, and no more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monitor } from '@millrace/monitor';
import { until } from '../../../../../scripts/lib/program-tests.js';
import { serve, watch } from './support.js';

const id = `${process.pid}`;

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
