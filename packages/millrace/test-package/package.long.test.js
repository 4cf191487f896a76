/** Injected: packages of the platform that are missing or spoilt, and compilers that fail. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { install, node, place } from '../../../scripts/lib/installed.js';
import { packed } from '../../../scripts/lib/packed.js';
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

describe('@millrace/source', () => {
  test('has the C, where binding.gyp looks for it, and nothing to run at its installation', async () => {
    const { files, manifest } = (await packed()).get('@millrace/source');
    const addon = 'packages/millrace/addon';
    assert.ok(files.includes('c/include/uv_batch.h'));
    assert.ok(files.includes(`${addon}/binding.gyp`));
    assert.ok(!files.includes('binding.gyp'));
    assert.equal(manifest.scripts, undefined);
    const known = [
      /^(LICENSE|README\.md|package\.json|packages\/millrace\/package\.json)$/,
      /^(c|packages\/millrace\/addon)\/(include|src)\/[^/]+\.[ch]$/,
      /^packages\/millrace\/addon\/(binding\.gyp|sources\.cjs)$/,
    ];
    const unexpected = files.filter((path) => !known.some((each) => each.test(path)));
    assert.deepEqual(unexpected, []);
  });
});

describe('millrace build', () => {
  let omitted;
  let registry;
  let asked = [];

  before(async () => {
    omitted = await install('millrace', { as: 'compiled', args: ['--omit=optional'] });
    const { tarball, manifest } = (await packed()).get('@millrace/source');
    registry = createServer(({ url }, response) => {
      asked.push(url);
      if (url.endsWith('.tgz')) return response.end(readFileSync(tarball));
      if (decodeURIComponent(url) !== `/${manifest.name}`) return response.writeHead(404).end('{}');
      const dist = { tarball: `${origin()}/source.tgz`, integrity: integrityOf(tarball) };
      const versions = { [manifest.version]: { ...manifest, dist } };
      const tags = { latest: manifest.version };
      response.end(JSON.stringify({ name: manifest.name, 'dist-tags': tags, versions }));
    }).listen(0, '127.0.0.1');
    await once(registry, 'listening');
  });
  after(() => registry.close());
  beforeEach(() => {
    asked = [];
    rmSync(join(omitted.installed, 'addon/build'), { recursive: true, force: true });
  });

  const origin = () => `http://127.0.0.1:${registry.address().port}`;
  const integrityOf = (path) =>
    `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
  const binaryOf = (folder) =>
    join(folder, 'node_modules/millrace/addon/build/Release/millrace.node');

  /** Runs the command, with a cache of its own; returns its output and exit code. */
  async function build(env, cwd = omitted.folder) {
    const args = ['node_modules/millrace/bin/millrace.js', 'build', '--seconds', '240'];
    const cache = mkdtempSync(join(place, 'cache-'));
    const settings = { npm_config_registry: origin(), npm_config_cache: cache, ...env };
    return node(args, { cwd, env: settings }).then(
      ({ stdout }) => ({ code: 0, text: stdout.trim() }),
      ({ code, stderr }) => ({ code, text: stderr.trim() }),
    );
  }

  /** A copy of the installation with the package of the C. */
  async function withSource(name) {
    const folder = join(place, name);
    const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
    cpSync(omitted.folder, folder, options);
    const to = join(folder, 'node_modules/@millrace/source');
    mkdirSync(to, { recursive: true });
    const { tarball } = (await packed()).get('@millrace/source');
    execFileSync('tar', ['-xzf', tarball, '-C', to, '--strip-components=1']);
    return { folder, source: to };
  }

  test('fetches the C and compiles the addon', async () => {
    const { code, text } = await build();
    assert.equal(text, `built ${binaryOf(omitted.folder)}`);
    assert.equal(code, 0);
    assert.ok(asked.includes('/source.tgz'), asked.join());
    const { native, nativeError, ...rest } = await use(omitted.folder, { MILLRACE_NATIVE: '1' });
    assert.match(native.version, /^\d+\.\d+\.\d+$/);
    assert.equal(nativeError, null);
    assert.deepEqual(rest, works);
    assert.equal(existsSync(join(omitted.folder, 'node_modules/@millrace/source')), false);
  });

  test('takes the C that is installed, without the network', async () => {
    const { folder } = await withSource('sources');
    const { code, text } = await build({}, folder);
    assert.equal(text, `built ${binaryOf(folder)}`);
    assert.equal(code, 0);
    assert.deepEqual(asked, []);
    assert.notEqual((await use(folder, { MILLRACE_NATIVE: '1' })).native, null);
  });

  test('names the package that the registry does not have', async () => {
    const { code, text } = await build({ npm_config_registry: `${origin()}/empty/` });
    assert.equal(code, 1);
    assert.match(
      text,
      /^millrace build: the addon could not be built: @millrace\/source@\S+ could not be fetched: .*404 /,
    );
  });

  test('refuses an addon that needs a newer libuv than that of Node.js', async () => {
    const { folder, source } = await withSource('newer');
    const file = join(source, 'packages/millrace/addon/src/addon.c');
    const text = readFileSync(file, 'utf8');
    const newer = text.replace('(1 << 16) | (44 << 8)', '(1 << 16) | (255 << 8)');
    assert.notEqual(newer, text);
    writeFileSync(file, newer);
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
      const { code, text } = await build({ npm_config_node_gyp: script });
      assert.equal(code, 1);
      assert.equal(text, `millrace build: the addon could not be built: ${why}.`);
    });
  }
});
