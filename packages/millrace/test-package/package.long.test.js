import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, test } from 'node:test';
import {
  bare,
  install,
  node,
  npm,
  pack,
  place,
  repository,
  unbuilt,
  use,
  works,
} from './install.js';

let packed;
let compiled;

before(async () => {
  packed = await pack(join(repository, 'node'));
  compiled = await install('compiled', packed.tarball);
});

const binary = (folder) => join(folder, 'node_modules/millrace/build/Release/millrace.node');
const installed = ({ folder }) => join(folder, 'node_modules/millrace');

test('where there is a compiler, the addon is built at installation, without the network', async () => {
  assert.equal(compiled.said, '');
  assert.ok(existsSync(binary(compiled.folder)));
  const { native, nativeError, ...rest } = await use(compiled.folder, { MILLRACE_NATIVE: '1' });
  assert.match(native.version, /^\d+\.\d+\.\d+$/);
  assert.equal(nativeError, null);
  assert.deepEqual(rest, works);
});

test('with --ignore-scripts nothing is built, and the API works', async () => {
  const { folder, said } = await install('scriptless', packed.tarball, {}, ['--ignore-scripts']);
  assert.equal(said, '');
  assert.equal(existsSync(join(folder, 'node_modules/millrace/build')), false);
  const { native, nativeError, ...rest } = await use(folder);
  assert.equal(native, null);
  assert.match(nativeError, /^no addon was built for /);
  assert.deepEqual(rest, works);
});

test('every entry point loads by import and by require, without the packages that are optional', async () => {
  const { exports } = JSON.parse(readFileSync(join(installed(compiled), 'package.json'), 'utf8'));
  const names = Object.keys(exports).map((path) => `millrace${path.slice(1)}`);
  const program = join(compiled.folder, 'every.cjs');
  writeFileSync(
    program,
    `const names = ${JSON.stringify(names)}.filter((name) => !name.endsWith('.json'));
    require('millrace/package.json');
    require('millrace/config.schema.json');
    const required = names.map((name) => require(name));
    Promise.all(names.map((name) => import(name))).then((imported) => {
      const keys = imported.map((each) => Object.keys(each).filter((key) => !/^(default|module.exports)$/.test(key)));
      const missing = keys.flatMap((each, i) => each.filter((key) => !(key in required[i])));
      console.log(JSON.stringify({ count: keys.flat().length, missing }));
    });`,
  );
  const { stdout, stderr } = await node([program], { cwd: compiled.folder });
  const { count, missing } = JSON.parse(stdout);
  assert.deepEqual({ missing, stderr }, { missing: [], stderr: '' });
  assert.ok(count > names.length);
});

test('with MILLRACE_NATIVE=0 nothing is built', async () => {
  const { folder, said } = await install('off', packed.tarball, { MILLRACE_NATIVE: '0' });
  assert.equal(said, '');
  assert.equal(existsSync(join(folder, 'node_modules/millrace/build')), false);
});

test('with a prebuilt addon in the package no compiler is needed', async () => {
  const copy = join(place, 'millrace');
  // With their times: what is compiled need not be compiled again.
  cpSync(installed(compiled), copy, { recursive: true, preserveTimestamps: true });
  // Only the repository packs and makes what is prebuilt.
  cpSync(join(repository, 'packages/millrace/addon'), join(copy, 'addon'), { recursive: true });
  const { stdout } = await node([npm, 'run', '--silent', 'prebuilds'], { cwd: copy });
  const prebuilt = stdout.trim();
  assert.match(
    prebuilt,
    /^prebuilds\/[a-z0-9]+-[a-z0-9]+\/node\.napi\.uv1(\.glibc|\.musl)?\.node$/,
  );
  const { files, tarball } = await pack(copy);
  assert.deepEqual(files.toSorted(), [...packed.files, prebuilt].toSorted());

  for (const [name, env, args] of [
    ['prebuilt', { PATH: bare }],
    ['prebuilt, scriptless', {}, ['--ignore-scripts']],
  ]) {
    const { folder, said } = await install(name, tarball, env, args);
    assert.equal(said, '');
    assert.equal(existsSync(join(folder, 'node_modules/millrace/build')), false);
    const { native, ...rest } = await use(folder, { MILLRACE_NATIVE: '1' });
    assert.match(native.version, /^\d+\.\d+\.\d+$/);
    assert.deepEqual(rest, { nativeError: null, ...works });
  }
});

test('an addon that needs a newer libuv than that of Node.js is not used', async () => {
  const folder = join(place, 'newer');
  const copy = join(folder, 'node_modules/millrace');
  cpSync(compiled.folder, folder, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
  });
  cpSync(join(repository, 'packages/millrace/addon'), join(copy, 'addon'), { recursive: true });
  const source = join(copy, 'addon/src/addon.c');
  const text = readFileSync(source, 'utf8');
  const newer = text.replace('(1 << 16) | (44 << 8)', '(1 << 16) | (255 << 8)');
  assert.notEqual(newer, text);
  writeFileSync(source, newer);
  await node([npm, 'run', '--silent', 'prebuilds'], { cwd: copy });
  const { native, nativeError, ...rest } = await use(folder);
  assert.equal(native, null);
  assert.match(nativeError, /node\.napi\.uv1[a-z.]*: the libuv of this process is 1\.\d+\.\d+; /);
  assert.deepEqual(rest, works);
});

/** Runs the script once more over an addon that is no good, with a program in the place of node-gyp. */
async function reinstall(name, program, env) {
  const script = join(place, `${name}.cjs`);
  writeFileSync(script, program);
  writeFileSync(binary(compiled.folder), 'an addon that is no good');
  const { stdout, stderr } = await node(['addon/install.cjs'], {
    cwd: installed(compiled),
    env: { npm_config_node_gyp: script, ...env },
  });
  assert.equal(stderr, '');
  assert.equal(stdout.trimEnd().split('\n').length, 1);
  assert.equal(
    existsSync(join(installed(compiled), 'build')),
    false,
    'a build that failed is left',
  );
  return unbuilt.exec(stdout.trimEnd())?.[1];
}

const faults = {
  'fails to compile': {
    program: `console.error('gyp info\\nmillrace.c:1:2: error: no such thing\\n'); process.exit(1);`,
    why: 'error: no such thing',
  },
  'fails without a word': { program: 'process.exit(1)', why: 'node-gyp failed' },
  'finds no network': {
    program: `console.error('gyp ERR! stack is related to network connectivity.'); process.exit(1);`,
    why: 'the headers of Node.js could not be downloaded',
  },
  'never ends': {
    program: 'setInterval(() => {}, 1000)',
    env: { MILLRACE_INSTALL_TIMEOUT: '1' },
    why: 'node-gyp was stopped after 1 s',
  },
  'makes nothing': { program: '', why: /^no addon was built for / },
};

for (const [what, { program, env, why }] of Object.entries(faults)) {
  test(`a node-gyp that ${what} does not fail the installation`, async (t) => {
    const before = join(place, `build-${basename(what)}`);
    cpSync(join(installed(compiled), 'build'), before, { recursive: true });
    t.after(() => cpSync(before, join(installed(compiled), 'build'), { recursive: true }));
    const told = await reinstall(what.replaceAll(' ', '-'), program, env);
    if (typeof why === 'string') assert.equal(told, why);
    else assert.match(told, why);
  });
}

test('what a failed npm pack left behind does not stand in for the sources of the repository', async (t) => {
  const copy = join(place, 'repository');
  cpSync(join(repository, 'c/src'), join(copy, 'c/src'), { recursive: true });
  cpSync(join(repository, 'c/include'), join(copy, 'c/include'), { recursive: true });
  cpSync(installed(compiled), join(copy, 'node'), { recursive: true });
  t.after(() => rmSync(copy, { recursive: true }));
  assert.ok(existsSync(join(copy, 'packages/millrace/deps/uvbatch/src')));
  const { stdout } = await node(['addon/sources.cjs'], { cwd: join(copy, 'node') });
  assert.match(stdout, /^\.\.\/c\/src\//m);
  assert.doesNotMatch(stdout, /deps/);
});
