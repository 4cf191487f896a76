/** Injected: packages of the platform that are missing or spoilt, and compilers that fail. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { install, node, place } from '../../../scripts/lib/installed.js';
import { root } from '../../../scripts/lib/paths.js';
import { thisPlatform } from '../dist/native/platforms.cjs';
import { addonByDoctor, use, works } from './use.js';

const name = `@millrace/${thisPlatform()}`;

/** Everything works in JavaScript; the addon is missing for a reason. */
async function assertJavaScript(folder, why) {
  const { native, nativeError, ...rest } = await use(folder);
  assert.equal(native, null);
  assert.match(nativeError, why);
  assert.deepEqual(rest, works);
}

test('with --omit=optional JavaScript does the work, and doctor names the command that mends it', async () => {
  const { folder } = await install('millrace', { as: 'omitted', args: ['--omit=optional'] });
  await assertJavaScript(
    folder,
    new RegExp(`^the package ${name} is not installed where it runs$`),
  );
  const { state, fix } = await addonByDoctor(folder);
  assert.equal(state, 'warning');
  const { version } = JSON.parse(
    readFileSync(join(root, 'packages/millrace/package.json'), 'utf8'),
  );
  assert.equal(fix, `npm install --include=optional --save-optional ${name}@${version}`);
});

test('a package of the platform that was cut short is named, and mended by what doctor says', async () => {
  const { folder } = await install('millrace', { as: 'cut' });
  const packaged = join(folder, 'node_modules', name);
  truncateSync(join(packaged, 'millrace.node'), 10_000);
  await assertJavaScript(folder, /millrace\.node is cut short$/);
  const { fix } = await addonByDoctor(folder);
  assert.ok(fix.startsWith(`delete ${packaged}, then npm install `), fix);
});

test('a package for another processor is named', async () => {
  const { folder } = await install('millrace', { as: 'foreign' });
  const file = join(folder, 'node_modules', name, 'millrace.node');
  const other = readFileSync(file);
  // The field of the processor, in ELF: RISC-V.
  other.writeUInt16LE(243, 18);
  writeFileSync(file, other);
  await assertJavaScript(folder, /millrace\.node/);
  assert.match((await addonByDoctor(folder)).fix, /^delete /);
});

describe('millrace build', () => {
  let omitted;

  before(async () => {
    omitted = await install('millrace', { as: 'compiled', args: ['--omit=optional'] });
  });

  const binary = () => join(omitted.installed, 'addon/build/Release/millrace.node');

  /** Runs the command; returns its output and exit code. */
  async function build(env, cwd = omitted.folder) {
    const args = ['node_modules/millrace/bin/millrace.js', 'build', '--seconds', '240'];
    return node(args, { cwd, env }).then(
      ({ stdout }) => ({ code: 0, text: stdout.trim() }),
      ({ code, stderr }) => ({ code, text: stderr.trim() }),
    );
  }

  test('compiles the addon without the network', async () => {
    const { code, text } = await build();
    assert.equal(text, `built ${binary()}`);
    assert.equal(code, 0);
    const { native, nativeError, ...rest } = await use(omitted.folder, { MILLRACE_NATIVE: '1' });
    assert.match(native.version, /^\d+\.\d+\.\d+$/);
    assert.equal(nativeError, null);
    assert.deepEqual(rest, works);
  });

  test('refuses an addon that needs a newer libuv than that of Node.js', async () => {
    const folder = join(place, 'newer');
    const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
    cpSync(omitted.folder, folder, options);
    const source = join(folder, 'node_modules/millrace/addon/src/addon.c');
    const text = readFileSync(source, 'utf8');
    const newer = text.replace('(1 << 16) | (44 << 8)', '(1 << 16) | (255 << 8)');
    assert.notEqual(newer, text);
    writeFileSync(source, newer);
    const built = await build({}, folder);
    assert.equal(built.code, 1);
    assert.match(
      built.text,
      /^millrace build: the addon could not be built: .*the libuv of this process is 1\./,
    );
    await assertJavaScript(folder, /millrace\.node: the libuv of this process is 1\.\d+\.\d+; /);
  });

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
    'makes nothing': { program: '', why: `the package ${name} is not installed where it runs` },
  };

  for (const [what, { program, why }] of Object.entries(faults)) {
    test(`a node-gyp that ${what} is one sentence`, async () => {
      const script = join(place, `${what.replaceAll(' ', '-')}.cjs`);
      writeFileSync(script, program);
      rmSync(join(omitted.installed, 'addon/build'), { recursive: true, force: true });
      const { code, text } = await build({ npm_config_node_gyp: script });
      assert.equal(code, 1);
      assert.equal(text, `millrace build: the addon could not be built: ${why}.`);
    });
  }
});

test('what a failed npm pack left behind does not stand in for the sources of the repository', async (t) => {
  const { installed } = await install('millrace', { as: 'left' });
  const repository = join(place, 'repository');
  const copy = join(repository, 'packages/millrace');
  for (const each of ['c/src', 'c/include']) {
    cpSync(join(root, each), join(repository, each), { recursive: true });
  }
  cpSync(installed, copy, { recursive: true });
  t.after(() => rmSync(repository, { recursive: true }));
  assert.ok(existsSync(join(copy, 'deps/uvbatch/src')));
  const { stdout } = await node(['addon/sources.cjs'], { cwd: copy });
  assert.match(stdout, /^\.\.\/\.\.\/\.\.\/c\/src\//m);
  assert.doesNotMatch(stdout, /deps/);
});
