import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { until } from '../../../../scripts/lib/program-tests.js';
import { measure } from '../measure.js';
import { BURN } from './programs.js';
import { cleanupFor, folderFor, SERVER } from './support.js';

const PAYLOAD = ({ value }) => value;

function run(t, { arm, load, ...more } = {}) {
  return measure({
    role: 'control',
    arm: { name: 'tested', command: [process.execPath, SERVER], ...arm },
    load: {
      kind: 'requests',
      timeoutS: 600,
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
  const requests = () => [{ name: 'one', path: '/one' }];
  const pinned = await run(t, { arm: said, load: { requests } });
  const free = await run(t, { arm: said, load: { requests, pin: false } });
  assert.equal(cores(free.output), allowed().split(/\s+/)[1]);
  const isMany = /[-,]/.test(allowed());
  assert.equal(/[-,]/.test(cores(pinned.output)), false, `${isMany}`);
});

const WHERE = `const fs = require('fs');
  console.log('allowed:', /^Cpus_allowed_list:\\s*(.*)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]);
  require('http').createServer((request, response) => response.end('{"value":1}'))
    .listen(0, '127.0.0.1', function () { console.log('listening on http://127.0.0.1:' + this.address().port); });`;

test('the CPU time of a child that has ended counts once', async (t) => {
  const burn = `${BURN} ${BURN.replaceAll('from', 'then')} console.log(JSON.stringify(process.cpuUsage()));`;
  const source = `const { execFileSync } = require('node:child_process');
    const child = JSON.parse(execFileSync(process.execPath, ['-e', ${JSON.stringify(burn)}]));
    const own = process.cpuUsage();
    const us = child.user + child.system + own.user + own.system;
    console.log(JSON.stringify({ values: { cpu_s: us / 1e6 } }));`;
  const arm = { command: [process.execPath, '-e', source] };
  const { costs, values } = await run(t, { arm, load: { kind: 'program', requests: undefined } });
  const ratio = costs.cpuS / values.cpu_s;
  assert.ok(ratio > 0.7 && ratio < 1.4, `${costs.cpuS} ${values.cpu_s}`);
});

test('a server that dies of the last request is reported, or is a result where it may', async (t) => {
  const file = join(folderFor(t), 'load.mjs');
  writeFileSync(
    file,
    `export default async function load({ url }) {
      await fetch(new URL('/die', url)).catch(() => {});
      return { answers: 1 };
    }`,
  );
  const load = { kind: 'script', file, warmup: 0, requests: undefined };
  await assert.rejects(run(t, { load }), {
    code: 'MILLRACE_LAB_E_SERVER',
    message: /ended unexpectedly with code 3/,
  });
  const { crash } = await run(t, { load: { ...load, mayCrash: true } });
  assert.match(crash, /ended unexpectedly with code 3/);
});

test('a command that sets NODE_OPTIONS itself runs without the probe, and is reported', async (t) => {
  const command = (set) => ['sh', '-c', `${set} exec "$0" "$1"`, process.execPath, SERVER];
  const load = { requests: () => [{ name: 'one', path: '/one' }] };
  const own = await run(t, { arm: { command: command('NODE_OPTIONS=--no-warnings') }, load });
  assert.deepEqual([own.probe, own.unprobed], [null, 1]);
  const probed = await run(t, { arm: { command: command('') }, load });
  assert.deepEqual([probed.probe.node, probed.unprobed], [process.version, 0]);
});

test('a lab that is ended by force takes its server along, and the next one its folder', async (t) => {
  const folder = folderFor(t);
  const source = `import { measure } from ${JSON.stringify(new URL('../measure.js', import.meta.url).href)};
    import { Cleanup } from ${JSON.stringify(new URL('../../run/cleanup.js', import.meta.url).href)};
    const command = [process.execPath, '-e', ${JSON.stringify(`process.on('SIGTERM', () => {}); ${SAYS_SO} ${WHERE}`)}, 'orphan'];
    const requests = [{ name: 'one', path: '/' }, { name: 'far', path: '/', at: 600_000 }];
    const load = { kind: 'requests', timeoutS: 600, requests, warmup: [requests[0]] };
    const arm = { name: 'orphan', command };
    await measure({ role: 'control', arm, load, params: { label: '' }, round: 1, cleanup: new Cleanup() });`;
  const lab = spawn(process.execPath, ['--input-type=module', '-e', source], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const sockets = () => readdirSync(folder).filter((name) => name.startsWith('millrace-probe-'));
  // Until it is asked it may still write to the lab, and would end of that.
  await until(() => existsSync(join(folder, 'asked')));
  const server = childOf(lab.pid, 'orphan');
  assert.ok(server > 0);
  lab.kill('SIGKILL');
  await once(lab, 'exit');
  await until(() => !processIsAlive(server));
  process.env.TMPDIR = folder;
  t.after(() => delete process.env.TMPDIR);
  assert.equal(sockets().length, 1);
  await run(t, { load: { requests: () => [{ name: 'one', path: '/one' }] } });
  assert.deepEqual(sockets(), []);
});

/** Writes a file when the load comes; the lab itself asks for /health. */
const SAYS_SO = `const { writeFileSync } = require('fs');
  const { emit } = require('http').Server.prototype;
  require('http').Server.prototype.emit = function (name, request, ...more) {
    if (name === 'request' && request.url === '/') writeFileSync(process.env.TMPDIR + '/asked', '');
    return emit.call(this, name, request, ...more);
  };`;

function childOf(pid, text) {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', `${pid}`]);
  const line = `${stdout}`.split('\n').find((each) => each.trimEnd().endsWith(text));
  return line && Number.parseInt(line, 10);
}

function processIsAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const dying = () => [
  { name: 'one', path: '/one' },
  { name: 'die', path: '/die', at: 300, mayFail: true },
  { name: 'late', path: '/one', at: 1000, mayFail: true },
];

test('a server that dies midway is reported, and all is cleaned up', async (t) => {
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

test('a run of a server that may crash says so, with its usage until then', async (t) => {
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
  // It stays until its probe has been heard, also on a busy machine.
  const source = `${BURN} setTimeout(() => {
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ values: { done: 5, cpuS: (user + system) / 1e6 } }));
  }, 1000);`;
  writeFileSync(path, source);
  const arm = { command: [process.execPath, path] };
  const told = await run(t, { arm, load: { kind: 'program', requests: undefined } });
  assert.equal(told.values.done, 5);
  const { cpuS } = told.costs;
  // Its own account ends before its exit does, whose cost depends on the machine.
  assert.ok(cpuS >= 0.19 && cpuS < 2 * told.values.cpuS, `${cpuS} of ${told.values.cpuS}`);
  assert.equal(told.probe.processes, 1);
});
