/** The package without its compiled part, as most will have it; package.long.test.js compiles it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { bare, install, node, pack, repository, unbuilt, use, works } from './install.js';

let packed;
let uncompiled;

before(async () => {
  packed = await pack(join(repository, 'node'));
  uncompiled = await install('bare', packed.tarball, { PATH: bare });
});

test('the package holds what it needs and nothing else', () => {
  const expected = [
    /^(package\.json|README\.md|LICENSE|binding\.gyp|config\.schema\.json)$/,
    /^dist\/.+\.(c?js|c?js\.map|d\.c?ts)$/,
    /^dist\/uplot\/(uplot\.css|LICENSE)$/,
    /^dashboard\/[a-z-]+\.(js|css|html|svg)$/,
    /^bin\/millrace\.js$/,
    /^src\/.+\.c?ts$/,
    /^addon\/(gyp|install|sources)\.cjs$/,
    /^(addon|deps\/uvbatch)\/(include|src)\/.+\.[ch]$/,
    /^prebuilds\/[a-z0-9-]+\/[a-z0-9.]+\.node$/,
  ];
  for (const pattern of expected.slice(0, -1)) {
    assert.ok(
      packed.files.some((path) => pattern.test(path)),
      `nothing matches ${pattern}`,
    );
  }
  const unexpected = packed.files.filter((path) => !expected.some((each) => each.test(path)));
  assert.deepEqual(unexpected, []);
  assert.ok(packed.files.includes('deps/uvbatch/include/uv_batch.h'));
  const uplot = packed.files.filter((path) => path.startsWith('dist/uplot/'));
  assert.deepEqual(
    uplot.toSorted(),
    ['LICENSE', 'uplot.css', 'uplot.js'].map((name) => `dist/uplot/${name}`),
  );
  assert.equal(
    existsSync(join(repository, 'packages/millrace/deps')),
    false,
    'npm pack left packages/millrace/deps behind',
  );
});

test('where there is none, the installation says so in one sentence and the API works', async () => {
  const { folder, said } = uncompiled;
  assert.equal(unbuilt.exec(said)?.[1], 'Python 3 is missing');
  assert.equal(existsSync(join(folder, 'node_modules/millrace/build')), false);
  const { native, nativeError, ...rest } = await use(folder);
  assert.equal(native, null);
  assert.match(nativeError, /^no addon was built for /);
  assert.deepEqual(rest, works);
});

test('the dashboard serves the charts, and uPlot is not installed', async () => {
  const { folder } = uncompiled;
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
