// collect(): what objects count, added up; totals never fall.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { monitor } from '@millrace/monitor';
import { collect, exposition, families, runtime, runtimeFamilies } from '@millrace/monitor/metrics';
import { BatchEmitter, batch } from 'millrace';
import { readers } from '../../dist/metrics/readers.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The value of a series; undefined when there is none. */
function value(points, name, labels = {}) {
  const found = points.filter(
    (point) =>
      point.name === name &&
      Object.entries(labels).every(([label, text]) => point.labels[label] === text),
  );
  assert.ok(found.length < 2, `${name} is there ${found.length} times`);
  return found[0]?.value;
}

test('counts of several objects are added up, and the fullest queue is reported', async () => {
  const emitters = [new BatchEmitter({ maxQueue: 10 }), new BatchEmitter({ maxQueue: 4 })];
  const source = 'emitter';
  const before = collect();
  for (const emitter of emitters) {
    emitter.on('event', () => {});
    emitter.emit('event');
    emitter.emit('nobody');
  }
  const queued = collect();
  assert.equal(value(queued, 'queue_depth', { source, priority: 'normal' }), 4);
  assert.equal(value(queued, 'queue_fill', { source }), 0.5);
  await turn();
  const after = collect();
  const more = (name, labels) => value(after, name, labels) - (value(before, name, labels) ?? 0);
  assert.equal(value(after, 'queue_depth', { source, priority: 'normal' }), 0);
  assert.equal(more('batch_size_sum', { source }), 4);
  assert.equal(more('batch_size_count', { source }), 2);
  assert.equal(more('batch_trigger_total', { source, trigger: 'turn' }), 2);
  assert.equal(more('queue_wait_ms_count', { source, priority: 'normal' }), 2);
  assert.equal(more('unhandled_total'), 2);
});

test('holds are counted, and how long they were', async () => {
  const emitter = new BatchEmitter({ policy: 'fixed', maxDelay: 60_000 });
  emitter.on('event', () => {});
  const labels = { source: 'emitter' };
  const before = collect();
  emitter.emit('event');
  // The dispatch point of this turn, at which it is held, may be after this one.
  await turn();
  await turn();
  // The flush ends a hold as well as its time does.
  emitter.flush();
  const after = collect();
  const more = (name) => value(after, name, labels) - value(before, name, labels);
  assert.equal(more('batch_hold_ms_count'), 1);
  assert.ok(more('batch_hold_ms_sum') >= 0);
  assert.equal(emitter.stats().holds, 1);
});

test('a queue that may hold tells what its policy goes by, and why it does not hold', async () => {
  const figures = { total: 2, batchCost: 0.4, eventCost: 0.1, holdCost: 0.05, hold: 9 };
  const pointsOf = (policy) => {
    const points = [];
    const stats = { ...new BatchEmitter().stats(), policy };
    const add = (name, given, each) => points.push({ name, labels: given, value: each });
    readers.emitter(stats, add);
    return points.filter(({ name }) => /^batch_(not|rate|cost|saving|hold_chosen)/.test(name));
  };
  assert.deepEqual(pointsOf({ ...figures, saving: null, why: 'no delay allowed' }), []);
  const source = 'emitter';
  const reason = 'no saving measured';
  const off = pointsOf({ ...figures, hold: 0, saving: 0.01, why: reason });
  assert.deepEqual(off, [
    { name: 'batch_hold_chosen_ms', labels: { source }, value: 0 },
    { name: 'batch_not_holding', labels: { source, reason }, value: 1 },
    { name: 'batch_rate', labels: { source }, value: 2000 },
    { name: 'batch_cost_ms', labels: { source, part: 'batch' }, value: 0.4 },
    { name: 'batch_cost_ms', labels: { source, part: 'event' }, value: 0.1 },
    { name: 'batch_cost_ms', labels: { source, part: 'hold' }, value: 0.05 },
    { name: 'batch_saving', labels: { source }, value: 0.01 },
  ]);
  const holding = pointsOf({ ...figures, saving: null, why: null });
  assert.equal(value(holding, 'batch_not_holding'), undefined);
  assert.equal(value(holding, 'batch_saving'), undefined);
  const fixed = new BatchEmitter({ policy: 'fixed', maxDelay: 7 });
  fixed.emit('event');
  await turn();
  await turn();
  assert.deepEqual(pointsOf(fixed.stats().policy), [
    { name: 'batch_hold_chosen_ms', labels: { source }, value: 7 },
  ]);
  fixed.close();
});

test('turns for the broker that may wait tell the same', () => {
  const figures = { total: 2, batchCost: 0.4, eventCost: 0.1, holdCost: 0.05, hold: 9 };
  const policy = { ...figures, saving: 0.3, why: null };
  for (const source of ['bridge', 'socket-io-fleet']) {
    for (const each of [policy, null]) {
      const points = new Map();
      const counts = { missed: 0, malformed: 0, sent: 0, batches: 0, refused: 0, ignored: 0 };
      readers[source]({ ...counts, unanswered: 0, policy: each }, (name, labels, given) => {
        if (/^batch_(hold_chosen|saving)/.test(name)) points.set(name, [labels.source, given]);
      });
      const expected = { batch_hold_chosen_ms: [source, 9], batch_saving: [source, 0.3] };
      assert.deepEqual(Object.fromEntries(points), each === null ? {} : expected);
    }
  }
});

test('totals do not fall when objects are collected, and go on with those that come', async () => {
  const labels = { source: 'batch' };
  const run = async () => {
    const load = batch(async (items) => items);
    await Promise.all([load(1), load(2)]);
    return value(collect(), 'batch_size_sum', labels);
  };
  const first = await run();
  const depth = { ...labels, priority: 'normal' };
  // The object lives until the next macrotask, at least.
  for (let i = 0; i < 20 && value(collect(), 'queue_depth', depth) !== undefined; i++) {
    await turn();
    gc();
  }
  const gone = collect();
  assert.equal(value(gone, 'queue_depth', depth), undefined);
  assert.equal(value(gone, 'batch_size_sum', labels), first);
  assert.equal(await run(), first + 2);
});

test('of what exceeds 256 objects of a kind nothing is known, which can be seen', async () => {
  const labels = { source: 'batch' };
  const all = Array.from({ length: 300 }, () => batch(async (items) => items));
  const before = collect();
  assert.equal(value(before, 'objects', labels), 256);
  await Promise.all(all.map((load) => load(1)));
  const more = value(collect(), 'batch_size_sum', labels) - value(before, 'batch_size_sum', labels);
  // Some places may be those of objects that are still there from before.
  assert.ok(more > 200 && more <= 256, `${more}`);
});

test('quantiles do not exceed the highest, whatever the buckets of a histogram say', async () => {
  const seen = [];
  const add = (name, { quantile }, value) => quantile && seen.push([name, quantile, value]);
  const none = { count: 0, mean: 0, p50: 0, p99: 0, max: 0 };
  const queued = { high: 0, normal: 0, low: 0, ahead: 0, total: 0 };
  readers.pool(
    {
      ...{ queued, workers: { busy: 0, idle: 0 }, maxQueue: 1, batches: 0, meanBatch: 0 },
      ...{ waitMs: { count: 1, mean: 9, p50: 10, p99: 10, max: 9 }, runMs: none },
    },
    add,
  );
  const counts = { wait: 0, age: 0, full: 0, pressure: 0, unhealthy: 0 };
  const one = { admitted: 1, queued: 0, shed: counts, wouldShed: counts };
  const waitMs = { mean: 9, p99: 9.5, max: 9 };
  readers.guard({ queued: 0, maxQueue: 1, classes: { normal: { ...one, waitMs } } }, add);
  for (const [name, quantile, value] of seen) assert.ok(value <= 9, `${name} ${quantile} ${value}`);
});

test('pauses of the collector are counted once, however many monitors there are', async () => {
  const monitors = [monitor(), monitor(), monitor()];
  const sum = (points) =>
    points.filter(({ name }) => name === 'gc_pause_ms_total').reduce((all, p) => all + p.value, 0);
  const before = sum(collect());
  for (let i = 0; i < 5; i++) gc();
  while (monitors.some((each) => each.gc.count < 5)) await turn();
  const { totalMs } = monitors[0].gc;
  const more = sum(collect()) - before;
  for (const each of monitors) each.stop();
  assert.ok(Math.abs(more - totalMs) < 1e-6, `${more} and ${totalMs}`);
});

test('every point is of a family, with its labels', () => {
  const known = new Map();
  for (const { name, kind, labels, across } of families) {
    known.set(name, kind === 'summary' ? [...labels, 'quantile'] : labels);
    if (kind !== 'summary' || across === 'max') continue;
    for (const part of ['sum', 'count']) known.set(`${name}_${part}`, labels);
  }
  for (const { name, labels } of collect())
    assert.deepEqual(Object.keys(labels), known.get(name), name);
  assert.deepEqual(
    runtime().map(({ name }) => name),
    runtimeFamilies.map(({ name }) => name),
  );
});

test('points of several processes become text for Prometheus', () => {
  const points = [
    {
      name: 'queue_wait_ms',
      labels: { source: 'batch', priority: 'low', quantile: '1' },
      value: 7,
    },
    { name: 'queue_wait_ms_sum', labels: { source: 'batch', priority: 'low' }, value: 8.5 },
    { name: 'process_cpu_user_seconds_total', labels: {}, value: 2 },
    { name: 'of_nobody', labels: {}, value: 1 },
  ];
  const text = exposition([
    { labels: { process: '1' }, points },
    { labels: { process: 'a"\\\n' }, points: points.slice(2) },
  ]);
  assert.deepEqual(
    text.split('\n').filter((line) => !line.startsWith('# HELP')),
    [
      '# TYPE millrace_queue_wait_ms summary',
      'millrace_queue_wait_ms{source="batch",priority="low",quantile="1",process="1"} 7',
      'millrace_queue_wait_ms_sum{source="batch",priority="low",process="1"} 8.5',
      '# TYPE process_cpu_user_seconds_total counter',
      'process_cpu_user_seconds_total{process="1"} 2',
      'process_cpu_user_seconds_total{process="a\\"\\\\\\n"} 2',
      '',
    ],
  );
});

test('docs/reference/metrics.md has the vocabulary as it is', () => {
  const text = readFileSync(
    new URL('../../../../docs/reference/metrics.md', import.meta.url),
    'utf8',
  );
  const rows = families.map(({ name, kind, labels, help }) => {
    const all = labels.length === 0 ? '' : `{${labels.join(',')}}`;
    return `| \`${name}${all}\` | ${kind} | ${help} |`;
  });
  assert.ok(
    text.includes(`|---|---|---|\n${rows.join('\n')}\n\n`),
    `the table should be\n${rows.join('\n')}`,
  );
});
