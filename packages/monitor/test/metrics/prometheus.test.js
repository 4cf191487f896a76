// prometheus(): in registries of prom-client, one process and several.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { collect, families, prometheus } from '@millrace/monitor/metrics';
import { BatchEmitter } from 'millrace';
import { Gauge, Registry, register } from 'prom-client';
import { copyCode } from '../../../millrace/test/native/code.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const emitter = new BatchEmitter();
emitter.on('event', () => {});

test('the default registry, next to metrics of the application; twice is harmless', async (t) => {
  t.after(() => register.clear());
  new Gauge({ name: 'own', help: 'Of the application.' }).set(1);
  const exporters = [prometheus(), prometheus()];
  emitter.emit('event');
  await turn();
  const text = await register.metrics();
  const { batches } = emitter.stats();
  assert.match(text, /^own 1$/m);
  assert.match(text, /^# TYPE millrace_queue_wait_ms summary$/m);
  assert.match(
    text,
    new RegExp(`^millrace_batch_size_count\\{source="emitter"\\} ${batches}$`, 'm'),
  );
  assert.match(text, /^millrace_loop_utilization [\d.]+$/m);
  assert.match(text, /^millrace_loop_delay_ms\{quantile="0.99"\} [\d.]+$/m);
  for (const { name } of families)
    assert.equal(text.split(`# TYPE millrace_${name} `).length, 2, name);
  for (const exporter of exporters) exporter.stop();
  exporters[0].stop();
  assert.doesNotMatch(await register.metrics(), /millrace_/);
});

test('with the last exporter the monitor of the loop ends', async () => {
  const has = () => collect().some(({ name, value }) => name === 'loop_delay_ms' && value > 0);
  const exporter = prometheus({ register: new Registry() });
  await turn();
  await turn();
  assert.ok(has());
  exporter.stop();
  // It is not there for anybody else, so its window runs empty.
  while (has()) await new Promise((resolve) => setTimeout(resolve, 100));
});

test('a registry and a prefix of the application’s choice; a registry that was cleared', async () => {
  const own = new Registry();
  own.setDefaultLabels({ app: 'shop' });
  const first = prometheus({ register: own, prefix: 'shop_' });
  assert.match(await own.metrics(), /^shop_batch_size_count\{source="emitter",app="shop"\} \d+$/m);
  own.clear();
  prometheus({ register: own, prefix: 'shop_' }).stop();
  first.stop();
  const second = prometheus({ register: own, prefix: '' });
  assert.match(await own.metrics(), /^batch_size_count\{source="emitter"\} \d+$/m);
  own.resetMetrics();
  assert.match(await own.metrics(), /^batch_size_count\{source="emitter"\} [1-9]/m);
  second.stop();
});

test('OpenMetrics', async () => {
  const own = new Registry();
  own.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const exporter = prometheus({ register: own });
  const [text, again] = [await own.metrics(), await own.metrics()];
  for (const each of [text, again]) {
    assert.match(each, /^# TYPE millrace_unhandled counter$/m);
    assert.match(each, /^millrace_unhandled_total \d+$/m);
    assert.match(each, /^millrace_queue_wait_ms_sum\{/m);
  }
  // prom-client has shortened the names of counters by now.
  prometheus({ register: own }).stop();
  assert.deepEqual(own.getMetricsAsArray(), []);
  exporter.stop();
});

test('OpenMetrics: a second call after a scrape, and after the registry was cleared', async (t) => {
  const own = new Registry(Registry.OPENMETRICS_CONTENT_TYPE);
  const exporters = [prometheus({ register: own })];
  t.after(() => {
    for (const each of exporters) each.stop();
  });
  const first = await own.metrics();
  const lines = (text) => text.split('\n').map((line) => line.split(' ').slice(0, -1).join(' '));
  exporters.push(prometheus({ register: own }));
  assert.deepEqual(lines(await own.metrics()).sort(), lines(first).sort());
  own.clear();
  exporters.push(prometheus({ register: own }));
  assert.deepEqual(lines(await own.metrics()).sort(), lines(first).sort());
  exporters[0].stop();
  assert.deepEqual(own.getMetricsAsArray(), []);
});

test('two registries at a time have the same', async (t) => {
  const both = [new Registry(), new Registry()];
  const exporters = both.map((own) => prometheus({ register: own }));
  t.after(() => exporters[1].stop());
  const [one, other] = await Promise.all(both.map((own) => own.metrics()));
  assert.equal(one, other);
  exporters[0].stop();
  assert.deepEqual(both[0].getMetricsAsArray(), []);
  assert.match(await both[1].metrics(), /^millrace_loop_utilization /m);
});

test('a name that the registry has already: all or nothing, and it is said', () => {
  const own = new Registry();
  const gauge = new Gauge({ name: 'millrace_queue_fill', help: 'Of others.', registers: [own] });
  assert.throws(() => prometheus({ register: own }), {
    code: 'MILLRACE_E_INVALID_OPTION',
    message: /'prefix' is "millrace_".*has a millrace_queue_fill already/,
  });
  assert.deepEqual(own.getMetricsAsArray(), [gauge]);
  prometheus({ register: own, prefix: 'shop_' }).stop();
});

test('another copy of prom-client than the one beside this package', async () => {
  const require = createRequire(import.meta.url);
  const path = require.resolve('prom-client');
  const present = require(path);
  const ids = Object.keys(require.cache).filter((id) => id.includes('prom-client'));
  for (const id of ids) delete require.cache[id];
  const copy = require(path);
  assert.notEqual(copy.Registry, present.Registry);
  const own = new copy.Registry();
  const exporter = prometheus({ register: own });
  assert.match(await own.metrics(), /^millrace_batch_size_count\{/m);
  exporter.stop();
  assert.doesNotMatch(await register.metrics(), /millrace_/);
});

test('several processes: sums, and the highest where sums mean nothing', async () => {
  const file = fileURLToPath(new URL('cluster.js', import.meta.url));
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const text = (await child.stdout.toArray()).join('');
  if (child.exitCode === null) await once(child, 'exit');
  // Two workers, three events and one batch in each, of queues that hold 100 and 10 and have one event left.
  assert.match(text, /^millrace_batch_size_sum\{source="emitter"\} 6$/m);
  assert.match(text, /^millrace_batch_size_count\{source="emitter"\} 2$/m);
  assert.match(text, /^millrace_queue_fill\{source="emitter"\} 0.1$/m);
  assert.match(text, /^millrace_queue_depth\{source="emitter",priority="normal"\} 2$/m);
  assert.doesNotMatch(text, /millrace_queue_wait_ms\{/);
  assert.match(text, /^millrace_loop_delay_ms\{quantile="0.99"\} [\d.]+$/m);
});

test('bad input', () => {
  const bad = (options, message) =>
    assert.throws(() => prometheus(options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  bad({ registry: register }, /'registry'.*is 'register' meant/);
  bad({ register: {} }, /'register' is an object.*a Registry of prom-client/);
  bad({ prefix: '9x' }, /'prefix' is "9x"/);
  bad(null, /must be an object/);
});

/** A copy of the package with nothing installed beside it. */
function copyOfPackage(t) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-metrics-'));
  t.after(() => rmSync(folder, { recursive: true }));
  copyCode(join(folder, 'node_modules'), ['base', 'monitor']);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return {
    folder,
    url: pathToFileURL(join(folder, 'node_modules/@millrace/monitor/dist/metrics/index.js')),
  };
}

test('a Millrace from elsewhere finds what the main script has, whatever the working directory', (t) => {
  const { folder, url } = copyOfPackage(t);
  const modules = join(folder, 'app', 'node_modules');
  mkdirSync(modules, { recursive: true });
  const installed = createRequire(import.meta.url).resolve('prom-client/package.json');
  symlinkSync(dirname(installed), join(modules, 'prom-client'));
  const main = join(folder, 'app', 'main.js');
  writeFileSync(
    main,
    `const { prometheus } = await import('${url}'); prometheus(); console.log('found');`,
  );
  const env = { ...process.env, MILLRACE_NATIVE: '0' };
  assert.equal(`${execFileSync(process.execPath, [main], { cwd: '/', env })}`, 'found\n');
});

test('prom-client is not installed: the error says what to do', (t) => {
  const { folder, url } = copyOfPackage(t);
  const code = `const { prometheus, openTelemetry } = await import('${url}');
    for (const each of [prometheus, openTelemetry]) try { each() } catch (e) { console.log(e.code, e.message) }`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
    env: { ...process.env, MILLRACE_NATIVE: '0' },
    encoding: 'utf8',
  });
  assert.match(
    out,
    /^MILLRACE_E_INVALID_OPTION prometheus\(\): needs the package prom-client, .*npm install prom-client, or give 'register'$/m,
  );
  assert.match(
    out,
    /^MILLRACE_E_INVALID_OPTION openTelemetry\(\): needs the package @opentelemetry\/api, .*or give 'meter'$/m,
  );
});
