import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderFor } from './support.js';

const LAB = fileURLToPath(new URL('../../', import.meta.url));

/** The package as npm would install it, in a folder of its own. */
function installed(t) {
  const folder = folderFor(t);
  const modules = join(folder, 'node_modules');
  const lab = join(modules, '@millrace/lab');
  mkdirSync(lab, { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: LAB });
  const [tarball] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  execFileSync('tar', ['xzf', join(folder, tarball), '-C', lab, '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(lab, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const target = join(modules, name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(pathOf(name), target);
  }
  return { folder, bin: join(lab, 'bin.js') };
}

function pathOf(name) {
  const folders = createRequire(join(LAB, 'package.json')).resolve.paths(name);
  const found = folders.find((folder) => readdirIn(folder).includes(name.split('/')[0]));
  return join(found, name);
}

function readdirIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

test('the package works where there is nothing but its dependencies', (t) => {
  const { folder, bin } = installed(t);
  const lab = (...args) =>
    spawnSync(process.execPath, [bin, ...args], { cwd: folder, encoding: 'utf8' });

  assert.match(lab('-h').stdout, /^Usage: millrace-lab/);
  const unknown = lab('experiment', 'foo');
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /foo is not the file of an experiment, .* give one/);

  writeFileSync(
    join(folder, 'app.cjs'),
    `if (process.argv[3]) console.log('it is on');
    require('http').createServer((q, r) => r.end('x')).listen(Number(process.argv[2]), '127.0.0.1');`,
  );
  const said = lab(
    ...['compare', 'node app.cjs {port}', 'node app.cjs {port} on'],
    ...['--url', 'http://127.0.0.1:{port}/', '--proof', 'it is on', '--html', 'report.html'],
    ...['-n', '1', '-d', '0.5', '--warmup', '0', '-c', '2'],
  );
  assert.equal(said.status, 0, said.stderr);
  const [kept] = readdirSync(join(folder, 'millrace-results'));
  const page = lab('report', join('millrace-results', kept));
  assert.match(page.stdout, /Is B better than A\?/);
  assert.match(readFileSync(join(folder, 'report.html'), 'utf8'), /^<!doctype html>/i);
});

test('the package builds its load generator for WebSockets', (t) => {
  const { folder } = installed(t);
  const build = `import('@millrace/lab/load').then(async ({ buildGenerator }) => console.log(await buildGenerator()))`;
  const generator = execFileSync(process.execPath, ['-e', build], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
  assert.ok(generator.startsWith(folder), generator);
  assert.match(execFileSync(generator, ['--help'], { encoding: 'utf8' }), /--connections/);
});
