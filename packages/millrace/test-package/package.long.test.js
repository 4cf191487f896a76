import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, test } from 'node:test';
import { bare, install, node, npm, place } from '../../../scripts/lib/installed.js';
import { pack, packed } from '../../../scripts/lib/packed.js';
import { root } from '../../../scripts/lib/paths.js';
import { unbuilt, use, works } from './use.js';

let compiled;

before(async () => {
  compiled = await install('millrace', { as: 'compiled' });
});

const addon = join(root, 'packages/millrace/addon');
const binary = () => join(compiled.installed, 'build/Release/millrace.node');

test('with a compiler, the addon is built at installation, without the network', async () => {
  assert.equal(compiled.said, '');
  assert.ok(existsSync(binary()));
  const { native, nativeError, ...rest } = await use(compiled.folder, { MILLRACE_NATIVE: '1' });
  assert.match(native.version, /^\d+\.\d+\.\d+$/);
  assert.equal(nativeError, null);
  assert.deepEqual(rest, works);
});

test('with --ignore-scripts nothing is built, and the API works', async () => {
  const { folder, installed, said } = await install('millrace', {
    as: 'scriptless',
    args: ['--ignore-scripts'],
  });
  assert.equal(said, '');
  assert.equal(existsSync(join(installed, 'build')), false);
  const { native, nativeError, ...rest } = await use(folder);
  assert.equal(native, null);
  assert.match(nativeError, /^no addon was built for /);
  assert.deepEqual(rest, works);
});

test('with MILLRACE_NATIVE=0 nothing is built', async () => {
  const env = { MILLRACE_NATIVE: '0' };
  const { installed, said } = await install('millrace', { as: 'off', env });
  assert.equal(said, '');
  assert.equal(existsSync(join(installed, 'build')), false);
});

test('with a prebuilt addon in the package no compiler is needed', async () => {
  const copy = join(place, 'millrace');
  // With their times: what is compiled need not be compiled again.
  cpSync(compiled.installed, copy, { recursive: true, preserveTimestamps: true });
  // Only the repository packs and makes what is prebuilt.
  cpSync(addon, join(copy, 'addon'), { recursive: true });
  const { stdout } = await node([npm, 'run', '--silent', 'prebuilds'], { cwd: copy });
  const prebuilt = stdout.trim();
  assert.match(
    prebuilt,
    /^prebuilds\/[a-z0-9]+-[a-z0-9]+\/node\.napi\.uv1(\.glibc|\.musl)?\.node$/,
  );
  const [{ files, tarball }] = await pack([copy], place);
  const usual = (await packed()).get('millrace').files;
  assert.deepEqual(files.toSorted(), [...usual, prebuilt].toSorted());

  for (const options of [
    { as: 'prebuilt', env: { PATH: bare } },
    { as: 'prebuilt, scriptless', args: ['--ignore-scripts'] },
  ]) {
    const { folder, installed, said } = await install('millrace', { ...options, tarball });
    assert.equal(said, '');
    assert.equal(existsSync(join(installed, 'build')), false);
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
  cpSync(addon, join(copy, 'addon'), { recursive: true });
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
  writeFileSync(binary(), 'an addon that is no good');
  const { stdout, stderr } = await node(['addon/install.cjs'], {
    cwd: compiled.installed,
    env: { npm_config_node_gyp: script, ...env },
  });
  assert.equal(stderr, '');
  assert.equal(stdout.trimEnd().split('\n').length, 1);
  assert.equal(existsSync(join(compiled.installed, 'build')), false, 'a build that failed is left');
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
    cpSync(join(compiled.installed, 'build'), before, { recursive: true });
    t.after(() => cpSync(before, join(compiled.installed, 'build'), { recursive: true }));
    const told = await reinstall(what.replaceAll(' ', '-'), program, env);
    if (typeof why === 'string') assert.equal(told, why);
    else assert.match(told, why);
  });
}

test('leftovers of a failed npm pack do not replace the sources of the repository', async (t) => {
  const repository = join(place, 'repository');
  const copy = join(repository, 'packages/millrace');
  for (const each of ['c/src', 'c/include']) {
    cpSync(join(root, each), join(repository, each), { recursive: true });
  }
  cpSync(compiled.installed, copy, { recursive: true });
  t.after(() => rmSync(repository, { recursive: true }));
  assert.ok(existsSync(join(copy, 'deps/uvbatch/src')));
  const { stdout } = await node(['addon/sources.cjs'], { cwd: copy });
  assert.match(stdout, /^\.\.\/\.\.\/c\/src\//m);
  assert.doesNotMatch(stdout, /deps/);
});
