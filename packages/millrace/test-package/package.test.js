/** The package without its compiled part, as most will have it; package.long.test.js compiles it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bare, install, node } from '../../../scripts/lib/installed.js';
import { built, testPackage } from '../../../scripts/lib/package-test.js';
import { root } from '../../../scripts/lib/paths.js';
import { unbuilt, use, works } from './use.js';

const installation = await install('millrace', { env: { PATH: bare } });
const { folder, installed, said } = installation;

await testPackage('millrace', {
  installation,
  contents: [
    ...built,
    /^(binding\.gyp|config\.schema\.json)$/,
    /^dist\/uplot\/uplot\.js$/,
    /^dist\/uplot\/uplot\.css$/,
    /^dist\/uplot\/LICENSE$/,
    /^dashboard\/[a-z-]+\.(js|css|html|svg)$/,
    /^bin\/millrace\.js$/,
    /^addon\/(gyp|install|sources)\.cjs$/,
    /^(addon|deps\/uvbatch)\/(include|src)\/.+\.[ch]$/,
    /^deps\/uvbatch\/include\/uv_batch\.h$/,
  ],
  also: [/^prebuilds\/[a-z0-9-]+\/[a-z0-9.]+\.node$/],
  effects: ['./auto'],
});

test('npm pack leaves no copy of libuvbatch behind', () => {
  assert.equal(existsSync(join(root, 'packages/millrace/deps')), false);
});

test('without a compiler, the installation says so in one sentence and the API works', async () => {
  assert.equal(unbuilt.exec(said)?.[1], 'Python 3 is missing');
  assert.equal(existsSync(join(installed, 'build')), false);
  const { native, nativeError, ...rest } = await use(folder);
  assert.equal(native, null);
  assert.match(nativeError, /^no addon was built for /);
  assert.deepEqual(rest, works);
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
