import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { copiesOf, openTelemetry, promClient, ws } from '../../dist/tools/doctor/application.js';
import { examine } from '../../dist/tools/doctor/index.js';
import { format } from '../../dist/tools/doctor/report.js';
import { addonOf, nodeOptions, nodeVersion, remedy } from '../../dist/tools/doctor/runtime.js';
import {
  backlog,
  cgroup,
  cpus,
  memory,
  openFiles,
  threadPool,
} from '../../dist/tools/doctor/system.js';
import { folderWith, millrace, PACKAGE } from './help.js';

const place = (more = {}) => ({ root: '/', cwd: '/', env: {}, platform: 'linux', ...more });

/** A place whose `/` has these files. */
const rootWith = (t, files, more) => place({ root: folderWith(t, files), ...more });

const limitsText = (soft, hard) =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax open files            ${soft.padEnd(20)} ${hard.padEnd(20)} files     \n`;

test('all is looked at, each with what it means and what to do about it', async (t) => {
  const { code, output, errors } = await millrace(['doctor', '--json'], { cwd: folderWith(t) });
  assert.equal(code, 0, errors);
  const { node, findings } = JSON.parse(output);
  assert.equal(node, process.version);
  const names = findings.map(({ name }) => name);
  for (const name of ['Node.js', 'millrace', 'addon', 'io_uring', 'cgroup', 'settings', 'perf']) {
    assert.ok(names.includes(name), name);
  }
  assert.equal(new Set(names).size, names.length);
  for (const { name, state, found, means, fix } of findings) {
    assert.match(state, /^(ok|note|warning)$/);
    assert.equal(typeof found, 'string');
    if (state === 'warning') assert.ok(means && fix, name);
  }
});

test('the text has a line for each finding, its states under each other', async (t) => {
  const { output } = await millrace(['doctor'], { cwd: folderWith(t) });
  assert.match(output, /^(ok|note) {5,7}Node\.js {13}\d/m);
  assert.match(
    output,
    /^note {5}prom-client {9}not installed\n {29}optional: .*\n {29}fix: npm install prom-client$/m,
  );
  assert.match(output, /\n\n.*\d notes$/m);
});

test('with --strict a warning is exit code 1', async (t) => {
  const cwd = folderWith(t);
  const env = { UV_THREADPOOL_SIZE: 'many' };
  assert.equal((await millrace(['doctor', '--strict'], { cwd, env })).code, 1);
  assert.equal((await millrace(['doctor'], { cwd, env })).code, 0);
});

test('doctor takes no file', async () => {
  const { code, errors } = await millrace(['doctor', 'app.js']);
  assert.equal(code, 2);
  assert.match(errors, /^millrace doctor: doctor takes options only, not app\.js\./);
  assert.match((await millrace(['doctor', '--jsn'])).errors, /Did you mean --json\?/);
});

test('without the addon it says why, and what to do', async (t) => {
  const cwd = folderWith(t);
  const of = async (env) => {
    const { output } = await millrace(['doctor', '--json'], { cwd, env });
    const { findings } = JSON.parse(output);
    return Object.fromEntries(findings.map((finding) => [finding.name, finding]));
  };
  const off = await of({ MILLRACE_NATIVE: '0' });
  assert.equal(off.addon.state, 'note');
  assert.equal(off.addon.fix, 'unset MILLRACE_NATIVE');
  const bad = await of({ MILLRACE_NATIVE: 'x' });
  assert.equal(bad.addon.state, 'warning');
  assert.match(bad.addon.found, /'MILLRACE_NATIVE' is "x"/);
  const refused = await of({ NODE_OPTIONS: '--no-addons', PATH: join(cwd, 'nothing') });
  assert.equal(refused.addon.state, 'warning');
  assert.match(refused.addon.fix, /^start Node\.js without --no-addons; /);
  assert.match(refused.io_uring?.found ?? 'not tried', /not tried|not looked at/);
});

for (const platform of ['darwin', 'win32']) {
  test(`on ${platform} nothing of Linux is looked at, or advised`, async (t) => {
    const cwd = folderWith(t);
    const findings = await examine(rootWith(t, {}, { cwd, platform }));
    const of = Object.fromEntries(findings.map((finding) => [finding.name, finding]));
    for (const name of ['io_uring', 'cgroup', 'open files', 'backlog', 'perf']) {
      const found = `not looked at: this is ${platform}`;
      assert.deepEqual(of[name], { name, state: 'ok', found, means: null, fix: null });
    }
    assert.equal(of.libuv.found, process.versions.uv);
    assert.match(of.CPUs.found, /^\d+ as Node\.js counts them$/);
    assert.match(of.memory.found, /^\d+ MiB of the machine, heap up to \d+ MiB$/);
    const linux = /\/proc|sysctl|ulimit|affinity|kernel\.|could not be looked at/;
    for (const { found, means, fix } of findings)
      assert.doesNotMatch(`${found} ${means} ${fix}`, linux);
  });
}

const fixOf = (absence, more) => addonOf({ why: 'it is missing', ...absence }, place(more)).fix;

test('what a build of the addon takes on each platform', (t) => {
  const of = (platform, env) => fixOf({ kind: 'unknown' }, { platform, env });
  const nothing = { PATH: folderWith(t) };
  assert.equal(of('linux', nothing), 'npx millrace build, after installing python3, make, cc');
  assert.equal(of('darwin', nothing), 'npx millrace build, after xcode-select --install');
  assert.equal(of('darwin', process.env), 'npx millrace build');
  for (const env of [nothing, { Path: 'C:\\Windows' }]) {
    const tools = 'Python 3 and the C++ build tools of Visual Studio';
    assert.equal(of('win32', env), `npx millrace build; it takes ${tools}`);
  }
  assert.equal(fixOf({ kind: 'off' }, { platform: 'darwin' }), 'unset MILLRACE_NATIVE');
  const removed = 'remove MILLRACE_NATIVE from the environment';
  assert.equal(fixOf({ kind: 'off' }, { platform: 'win32' }), removed);
});

test('a package that is missing is installed by the package manager that is in use', () => {
  const absent = { kind: 'absent', name: '@millrace/linux-x64-gnu' };
  const of = (npm_config_user_agent) => fixOf(absent, { env: { npm_config_user_agent } });
  const what = '@millrace/linux-x64-gnu@';
  assert.ok(of().startsWith(`npm install --include=optional --save-optional ${what}`));
  assert.ok(of('npm/11.0.0 node/v22').startsWith('npm install '));
  assert.ok(of('pnpm/9.1.0 npm/? node/v22').startsWith(`pnpm add --save-optional ${what}`));
  assert.ok(of('yarn/4.5.0 npm/? node/v22').startsWith(`yarn add --optional ${what}`));
});

test('an addon that is no good is replaced, or compiled again', () => {
  const packaged = { kind: 'faulty', name: '@millrace/linux-x64-gnu', folder: '/app/it' };
  assert.match(fixOf(packaged), /^delete \/app\/it, then npm install .*@millrace\/linux-x64-gnu@/);
  assert.match(fixOf({ kind: 'faulty', folder: '/app/millrace' }), /^npx millrace build/);
});

test('with MILLRACE_NATIVE=1 the report is the same', async (t) => {
  const cwd = folderWith(t);
  const env = { MILLRACE_NATIVE: '1', NODE_OPTIONS: '--no-addons' };
  const { output } = await millrace(['doctor', '--json'], { cwd, env });
  const addon = JSON.parse(output).findings.find(({ name }) => name === 'addon');
  assert.match(addon.found, /^not loaded: .*loading addons is disabled\.$/);
  assert.match(addon.fix, /^start Node\.js without --no-addons; /);
});

test('versions of Node.js', () => {
  assert.equal(nodeVersion(place(), '24.1.0').state, 'ok');
  assert.equal(nodeVersion(place(), '20.20.2').state, 'note');
  assert.equal(nodeVersion(place(), '18.0.0').state, 'warning');
  const env = { NODE_OPTIONS: '--import millrace/auto' };
  assert.equal(nodeOptions(place({ env })).state, 'note');
});

test('open files by the hard limit', (t) => {
  const of = (soft, hard) => openFiles(rootWith(t, { 'proc/self/limits': limitsText(soft, hard) }));
  assert.equal(of('1024', '1048576').state, 'ok');
  assert.equal(of('1024', 'unlimited').state, 'ok');
  assert.equal(of('1024', '20000').state, 'note');
  assert.equal(of('1024', '1024').state, 'warning');
  assert.match(openFiles(place({ platform: 'darwin' })).found, /not looked at: this is darwin/);
});

test('threads by CPUs', (t) => {
  const files = { 'proc/self/status': 'Cpus_allowed_list:\t0-7\n' };
  const of = (size) =>
    threadPool(rootWith(t, files, { env: size === undefined ? {} : { UV_THREADPOOL_SIZE: size } }));
  assert.equal(of(undefined).state, 'note');
  assert.equal(of(undefined).fix, 'UV_THREADPOOL_SIZE=8');
  assert.equal(of('8').state, 'ok');
  for (const bad of ['x', '0', '2000', '1.5']) assert.equal(of(bad).state, 'warning', bad);
});

test('the backlog', (t) => {
  const of = (most) => backlog(rootWith(t, { 'proc/sys/net/core/somaxconn': `${most}\n` }));
  assert.equal(of(4096).state, 'ok');
  assert.equal(of(128).state, 'note');
});

test('a container: its quota, and a heap that does not fit into its memory', (t) => {
  const here = rootWith(t, {
    'proc/self/cgroup': '0::/\n',
    'proc/self/mountinfo': '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n',
    'proc/self/status': 'Cpus_allowed_list:\t0-3\n',
    'proc/meminfo': 'MemTotal:       16777216 kB\n',
    'sys/fs/cgroup/cpu.max': '150000 100000\n',
    'sys/fs/cgroup/memory.max': `${512 * 1024 ** 2}\n`,
  });
  assert.equal(cgroup(here).found, 'version 2, CPU quota 1.5, memory limit 512 MiB');
  assert.match(cpus(here, 4).means, /availableParallelism\(\) says 4/);
  assert.equal(cpus(here, 2).state, 'ok');
  assert.equal(memory(here, 2 * 1024 ** 3).fix, 'node --max-old-space-size=384');
  assert.equal(memory(here, 256 * 1024 ** 2).state, 'ok');
  assert.match(cgroup(rootWith(t, {})).found, /none/);
});

test('remedies for a refused io_uring', (t) => {
  const of = (disabled, seccomp) =>
    remedy(
      rootWith(t, {
        ...(disabled === null ? {} : { 'proc/sys/kernel/io_uring_disabled': `${disabled}\n` }),
        'proc/self/status': `Seccomp:\t${seccomp}\n`,
      }),
    );
  assert.match(of(2, 2), /^sysctl kernel\.io_uring_disabled=0/);
  assert.match(of(0, 2), /seccomp profile/);
  assert.match(of(null, 0), /kernel of 5\.6/);
});

const manifest = (name, version) => JSON.stringify({ name, version, main: 'index.js' });

test('every copy in the tree of the application is found', (t) => {
  const cwd = folderWith(t, {
    'node_modules/ws/package.json': manifest('ws', '8.1.0'),
    'node_modules/old/package.json': manifest('old', '1.0.0'),
    'node_modules/old/node_modules/ws/package.json': manifest('ws', '5.2.4'),
    'node_modules/@scope/a/node_modules/ws/package.json': manifest('ws', '8.2.0'),
    'node_modules/.pnpm/ws@8.3.0/node_modules/ws/package.json': manifest('ws', '8.3.0'),
    'packages/b/node_modules/ws/package.json': manifest('ws', '8.4.0'),
    'node_modules/ws/node_modules/bufferutil/package.json': manifest('bufferutil', '4.0.0'),
    'node_modules/ws/node_modules/bufferutil/index.js': '',
    'node_modules/broken/package.json': '{',
    'app/index.js': '',
  });
  // A workspace, which is linked to itself in a circle.
  symlinkSync(join(cwd, 'packages/b'), join(cwd, 'node_modules/b'));
  mkdirSync(join(cwd, 'packages/b/node_modules'), { recursive: true });
  symlinkSync(cwd, join(cwd, 'packages/b/node_modules/top'));
  symlinkSync(join(cwd, 'gone'), join(cwd, 'node_modules/gone'));
  const versions = copiesOf('ws', join(cwd, 'app')).map(({ version }) => version);
  assert.deepEqual(versions.sort(), ['5.2.4', '8.1.0', '8.2.0', '8.3.0', '8.4.0']);
  const { state, found } = ws(place({ cwd }));
  assert.equal(state, 'note');
  assert.match(
    found,
    /5\.2\.4 in node_modules\/old\/node_modules\/ws; 8\.1\.0 in node_modules\/ws, with bufferutil /,
  );
});

test('needs of metrics', (t) => {
  const cwd = folderWith(t, {
    'node_modules/prom-client/package.json': manifest('prom-client', '14.0.0'),
    'node_modules/@opentelemetry/api/package.json': manifest('@opentelemetry/api', '1.9.0'),
  });
  assert.equal(promClient(place({ cwd })).fix, 'npm install prom-client@15');
  assert.equal(openTelemetry(place({ cwd })).state, 'ok');
  assert.equal(promClient(place({ cwd: folderWith(t) })).state, 'note');
  assert.equal(ws(place({ cwd: PACKAGE })).state, 'ok');
});

test('lines are broken at the width of the terminal', () => {
  const found = 'one two three four five six seven eight nine ten eleven twelve';
  const means =
    'it/has/a/path/that/is/longer/than/all/of/the/width/that/there/is/for/text and more';
  const text = format([{ name: 'words', state: 'note', found, means, fix: 'npm install' }], 40);
  const lines = text.split('\n');
  const long = lines.filter((line) => line.length > 40);
  assert.deepEqual(long, [`${' '.repeat(16)}${means.split(' ')[0]}`]);
  assert.equal(lines[1], `${' '.repeat(16)}six seven eight nine ten`);
  assert.ok(text.replace(/\s+/g, ' ').includes(`${found} ${means} fix: npm install 1 note`));
});
