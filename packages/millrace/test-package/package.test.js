/** The package with the addon of this platform, installed without a compiler and without a script, as most will have it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bare, install, node } from '../../../scripts/lib/installed.js';
import { built, testPackage } from '../../../scripts/lib/package-test.js';
import { packed } from '../../../scripts/lib/packed.js';
import { root } from '../../../scripts/lib/paths.js';
import { platforms, thisPlatform } from '../dist/native/platforms.cjs';
import { addonByDoctor, use, works } from './use.js';

const installation = await install('millrace', { env: { PATH: bare } });
const { folder, installed } = installation;

await testPackage('millrace', {
  installation,
  contents: [
    ...built,
    /^config\.schema\.json$/,
    /^dist\/uplot\/uplot\.js$/,
    /^dist\/uplot\/uplot\.css$/,
    /^dist\/uplot\/LICENSE$/,
    /^dashboard\/[a-z-]+\.(js|css|html|svg)$/,
    /^bin\/millrace\.js$/,
    /^addon\/gyp\.cjs$/,
    /^addon\/include\/millrace\.h$/,
  ],
  effects: ['./auto'],
});

test('an installation is small: our own packages, and at most 2 MB', async () => {
  const platform = `@millrace/${thisPlatform()}`;
  const names = ['@millrace/base', '@millrace/guard', platform, '@millrace/monitor', 'millrace'];
  assert.deepEqual(installation.names.toSorted(), names);
  const all = await packed();
  const bytes = names.reduce((sum, name) => sum + all.get(name).bytes, 0);
  assert.ok(bytes <= 2_000_000, `${bytes} bytes`);
});

const manifestOf = (path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));

test('npm pack leaves nothing behind in the repository', () => {
  assert.equal(manifestOf(join(root, 'packages/millrace')).optionalDependencies, undefined);
});

test('the addon of each platform is an optional dependency in the same version', () => {
  const { version, optionalDependencies, scripts } = manifestOf(installed);
  const expected = platforms.map((name) => [`@millrace/${name}`, version]);
  assert.deepEqual(optionalDependencies, Object.fromEntries(expected));
  // npm and pnpm would compile a package with a binding.gyp at its root.
  assert.equal(existsSync(join(installed, 'binding.gyp')), false);
  for (const name of ['preinstall', 'install', 'postinstall'])
    assert.equal(scripts[name], undefined);
});

test('without a script and a compiler the addon is in use', async () => {
  assert.equal(existsSync(join(installed, 'addon/build')), false);
  const { native, nativeError, ...rest } = await use(folder, { MILLRACE_NATIVE: '1' });
  assert.match(native.version, /^\d+\.\d+\.\d+$/);
  assert.equal(nativeError, null);
  assert.deepEqual(rest, works);
  assert.equal((await addonByDoctor(folder)).state, 'ok');
});

test('the dashboard serves the charts, and uPlot is not installed', async () => {
  assert.equal(existsSync(join(folder, 'node_modules/uplot')), false);
  const program = `
    import { serveDashboard } from 'millrace/dashboard';
    const dashboard = await serveDashboard({ host: '127.0.0.1', port: 0 });
    const [{ default: uPlot }, style] = await Promise.all([
      fetch(new URL('uplot.js', dashboard.url)).then(async (answer) => import('data:text/javascript,' + encodeURIComponent(await answer.text()))),
      fetch(new URL('uplot.css', dashboard.url)).then((answer) => answer.text()),
    ]);
    await dashboard.close();
    console.log(JSON.stringify({ chart: typeof uPlot, style: style.includes('.uplot') }));
  `;
  const { stdout } = await node(['--input-type=module', '-e', program], { cwd: folder });
  assert.deepEqual(JSON.parse(stdout), { chart: 'function', style: true });
});
