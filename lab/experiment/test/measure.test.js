import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { measure } from '../measure.js';
import { cleanupFor, folderFor, SERVER } from './support.js';

const PAYLOAD = ({ value }) => value;

function run(t, { arm, load, ...more } = {}) {
  return measure({
    role: 'control',
    arm: { name: 'tested', command: [process.execPath, SERVER], ...arm },
    load: {
      kind: 'requests',
      timeoutS: 30,
      requests: () => [{ name: 'one', path: '/one', payload: PAYLOAD, rate: 100, seconds: 1 }],
      ...load,
    },
    params: { label: 'a case' },
    round: 3,
    cleanup: cleanupFor(t),
    ...more,
  });
}

const allowed = () => /^Cpus_allowed_list:.*$/m.exec(readFileSync('/proc/self/status', 'utf8'))[0];

/** What a run leaves behind when it is not cleaned up: sockets of the probe, and perf. */
function left() {
  const sockets = readdirSync(tmpdir()).filter((name) => name.startsWith('millrace-probe-'));
  const { stdout } = spawnSync('ps', ['-o', 'args=', '--ppid', `${process.pid}`]);
  const perf = `${stdout}`.split('\n').filter((line) => line.startsWith('perf'));
  return { sockets, perf };
}

test('a run has costs and probe of its window, and leaves nothing', async (t) => {
  const folder = folderFor(t);
  process.env.TMPDIR = folder;
  t.after(() => delete process.env.TMPDIR);
  const cores = allowed();
  const { costs, probe, ...told } = await run(t, { arm: { stats: '/asked' } });
  assert.equal(told.role, 'control');
  assert.equal(told.arm, 'tested');
  assert.equal(told.case, 'a case');
  assert.equal(told.round, 3);
  assert.equal(told.crash, null);
  assert.equal(told.stats.value, 101);
  assert.match(told.output, /^listening on/);
  assert.ok(Date.parse(told.startedAt) > 0);
  assert.deepEqual(told.notes, []);
  assert.equal(told.answers.length, 100);
  assert.ok(costs.wallS >= 0.99 && costs.cpuS > 0 && costs.peakRssBytes > 10e6);
  assert.ok(costs.voluntarySwitches > 0 && costs.series.cpu.length > 0);
  assert.equal(probe.processes, 1);
  assert.ok(probe.utilization > 0);
  assert.deepEqual(left(), { sockets: [], perf: [] });
  assert.equal(allowed(), cores, 'the load runs on all cores again');
});

test('the server may be pinned to a core, or not', async (t) => {
  const said = { name: 'where', command: [process.execPath, '-e', WHERE] };
  const cores = (output) => /allowed:\s*(\S+)/.exec(output)[1];
  const pinned = await run(t, { arm: said });
  const free = await run(t, { arm: said, load: { pin: false } });
  assert.equal(cores(free.output), allowed().split(/\s+/)[1]);
  const isMany = /[-,]/.test(allowed());
  assert.equal(/[-,]/.test(cores(pinned.output)), false, `${isMany}`);
});

const WHERE = `const fs = require('fs');
  console.log('allowed:', /^Cpus_allowed_list:\\s*(.*)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]);
  require('http').createServer((request, response) => response.end('{"value":1}'))
    .listen(0, '127.0.0.1', function () { console.log('listening on http://127.0.0.1:' + this.address().port); });`;

const dying = () => [
  { name: 'one', path: '/one' },
  { name: 'die', path: '/die', at: 300, mayFail: true },
  { name: 'late', path: '/one', at: 1000, mayFail: true },
];

test('a server that dies midway is told, and all is cleaned up', async (t) => {
  const folder = folderFor(t);
  process.env.TMPDIR = folder;
  t.after(() => delete process.env.TMPDIR);
  const cores = allowed();
  await assert.rejects(run(t, { load: { requests: dying } }), {
    code: 'MILLRACE_LAB_E_SERVER',
    message: /tested ended unexpectedly with code 3/,
  });
  assert.deepEqual(left(), { sockets: [], perf: [] });
  assert.equal(allowed(), cores);
});

test('where it may crash the run says so, with what it had used until then', async (t) => {
  const load = { requests: dying, mayCrash: true };
  const { crash, costs, probe, stats } = await run(t, { load, arm: { stats: '/asked' } });
  assert.match(crash, /ended unexpectedly with code 3/);
  assert.ok(costs.wallS >= 0.99 && costs.cpuS >= 0 && costs.peakRssBytes > 10e6);
  assert.equal(probe.processes, 1);
  assert.equal(stats, null);
});

test('a server that never starts, and a load that fails, leave nothing', async (t) => {
  const folder = folderFor(t);
  process.env.TMPDIR = folder;
  t.after(() => delete process.env.TMPDIR);
  const arm = { command: [process.execPath, '-e', 'process.exit(4)'] };
  await assert.rejects(run(t, { arm }), { code: 'MILLRACE_LAB_E_SERVER' });
  await assert.rejects(run(t, { load: { requests: () => [{ name: 'x', path: 'x' }] } }), {
    code: 'MILLRACE_LAB_E_EXPERIMENT',
  });
  assert.deepEqual(left(), { sockets: [], perf: [] });
});

test('a program is measured by its own account', async (t) => {
  const path = join(folderFor(t), 'program.cjs');
  const { BURN } = await import('./programs.js');
  const source = `${BURN} console.log(JSON.stringify({ values: { done: 5 } }));`;
  (await import('node:fs')).writeFileSync(path, source);
  const arm = { command: [process.execPath, path] };
  const told = await run(t, { arm, load: { kind: 'program', requests: undefined } });
  assert.equal(told.values.done, 5);
  assert.ok(told.costs.cpuS >= 0.19, `${told.costs.cpuS}`);
  assert.equal(told.probe.processes, 1);
});
