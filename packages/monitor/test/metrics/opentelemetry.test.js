// openTelemetry(): observable instruments, read in memory by the SDK.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { BatchEmitter } from 'millrace';
import 'millrace/fs';
import { collect, openTelemetry } from '@millrace/monitor/metrics';

class Reader extends MetricReader {
  async onShutdown() {}
  async onForceFlush() {}
}

const emitter = new BatchEmitter();
emitter.on('event', () => {});
emitter.emit('event');
emitter.emit('event');
await new Promise((resolve) => setImmediate(resolve));

function application() {
  const reader = new Reader();
  return { provider: new MeterProvider({ readers: [reader] }), read: () => read(reader) };
}

async function read(reader) {
  const { resourceMetrics, errors } = await reader.collect();
  assert.deepEqual(errors, []);
  const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return new Map(
    all.map(({ descriptor, dataPoints, isMonotonic }) => [
      descriptor.name,
      { unit: descriptor.unit, type: descriptor.type, isMonotonic, points: dataPoints },
    ]),
  );
}

test('without an SDK nothing happens, to the loop neither', () => {
  const exporter = openTelemetry();
  assert.ok(!collect().some(({ name }) => name.startsWith('loop_')));
  exporter.stop();
});

test('the global provider: names, units and kinds in its style, values as collect() has them', async (t) => {
  const { provider, read } = application();
  metrics.setGlobalMeterProvider(provider);
  t.after(() => metrics.disable());
  const exporter = openTelemetry();
  // Twice on one meter is harmless.
  assert.equal(openTelemetry(), exporter);
  // The loop is watched from the first time on that somebody asks.
  assert.ok(!(await read()).has('millrace.loop.utilization'));
  const told = await read();
  const size = told.get('millrace.batch.size_sum');
  assert.deepEqual([size.unit, size.isMonotonic], ['{event}', true]);
  assert.deepEqual(
    size.points.map(({ attributes, value }) => [attributes, value]),
    [[{ source: 'emitter' }, 2]],
  );
  assert.deepEqual(
    told.get('millrace.batch.size_count').points.map((each) => each.value),
    [1],
  );
  assert.equal(told.get('millrace.queue.wait_sum').unit, 'ms');
  assert.equal(told.get('millrace.queue.wait_count').unit, '{count}');
  assert.equal(told.get('millrace.loop.utilization').unit, '1');
  // A name is no part of another one, as the conventions want it.
  const names = [...told.keys()];
  assert.deepEqual(
    names.filter((name) => names.some((other) => other.startsWith(`${name}.`))),
    [],
  );
  assert.equal(told.get('millrace.queue.depth').isMonotonic, false);
  const delays = told.get('millrace.loop.delay');
  assert.deepEqual([delays.unit, delays.isMonotonic], ['ms', undefined]);
  assert.deepEqual(
    delays.points.map(({ attributes }) => attributes.quantile),
    ['0.5', '0.9', '0.99', '1'],
  );
  // Each point has come through, under one name or another.
  const ours = [...told].filter(([name]) => name.startsWith('millrace.'));
  const count = ours.reduce((all, [, { points }]) => all + points.length, 0);
  assert.equal(count, collect().length);
  // Figures of the loop have the names of the conventions as well, in seconds.
  const longest = told.get('nodejs.eventloop.delay.max');
  const [, , , { value }] = delays.points;
  assert.deepEqual([longest.unit, longest.points[0].value], ['s', value / 1000]);
  assert.ok(told.has('nodejs.eventloop.utilization') && told.has('nodejs.eventloop.delay.p99'));

  const sizeAfterOneMore = async () => {
    emitter.emit('event');
    await new Promise((resolve) => setImmediate(resolve));
    return (await read()).get('millrace.batch.size_sum').points.map((each) => each.value);
  };
  assert.deepEqual(await sizeAfterOneMore(), [3]);
  exporter.stop();
  // The SDK goes on to tell what it was told last.
  assert.deepEqual(await sizeAfterOneMore(), [3]);
});

test('a meter of the application’s choice', async () => {
  const { provider, read } = application();
  const exporter = openTelemetry({ meter: provider.getMeter('shop') });
  await read();
  assert.ok((await read()).has('millrace.loop.utilization'));
  exporter.stop();
});

test('a provider that comes late, and one that ends', async (t) => {
  const early = openTelemetry();
  const { provider, read } = application();
  metrics.setGlobalMeterProvider(provider);
  t.after(() => metrics.disable());
  const late = openTelemetry();
  assert.notEqual(late, early);
  assert.ok((await read()).has('millrace.batch.size_sum'));
  await provider.shutdown();
  early.stop();
  late.stop();
  late.stop();
});

test('names of several words', async () => {
  const { provider, read } = application();
  const exporter = openTelemetry({ meter: provider.getMeter('names') });
  assert.equal((await read()).get('millrace.file.read_batches').unit, '{batch}');
  exporter.stop();
});

test('bad input', () => {
  const bad = (options, message) =>
    assert.throws(() => openTelemetry(options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  bad({ metre: 1 }, /unknown option 'metre'.*known are meter/);
  bad({ meter: {} }, /'meter' is an object.*a Meter of OpenTelemetry/);
});
