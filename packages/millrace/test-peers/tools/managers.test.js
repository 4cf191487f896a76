/**
 * The packages, installed by pnpm and by Yarn from a registry that has them: the addon of this platform is found, in the layouts of their
 * folders, and by Yarn's Plug'n'Play, too. JavaScript does the work without it.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { npmEnvironment } from '../../../../scripts/lib/npm-environment.js';
import { packed } from '../../../../scripts/lib/packed.js';
import { platforms, thisPlatform } from '../../dist/native/platforms.cjs';

const command = (path) => join(import.meta.dirname, 'node_modules', path);
const limitMs = 600_000;
const works = { doubled: [2, 4], native: 'object', error: null };

let place;
let registry;
before(async () => {
  place = mkdtempSync(join(tmpdir(), 'millrace managers '));
  registry = await serve(await packed());
});
after(() => {
  registry.close();
  rmSync(place, { recursive: true, force: true });
});

/** Serves the packages, and of other platforms the manifests: nobody asks for more. */
async function serve(all) {
  const manifestIn = (tarball) =>
    JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json']));
  const manifests = new Map([...all].map(([name, { tarball }]) => [name, manifestIn(tarball)]));
  const version = manifests.get('millrace').version;
  for (const platform of platforms) {
    const [os, cpu, libc] = platform.split('-');
    const name = `@millrace/${platform}`;
    const only = { os: [os], cpu: [cpu], ...(libc && { libc: [libc === 'gnu' ? 'glibc' : libc] }) };
    if (!manifests.has(name)) manifests.set(name, { name, version, ...only });
  }
  const tarballs = new Map([...all.values()].map(({ tarball }) => [basename(tarball), tarball]));
  const server = createServer(({ url }, response) => {
    const path = decodeURIComponent(url).slice(1);
    if (tarballs.has(basename(path))) {
      return response.end(readFileSync(tarballs.get(basename(path))));
    }
    const manifest = manifests.get(path);
    if (manifest === undefined) return response.writeHead(404).end('{}');
    const tarball = all.get(path)?.tarball;
    const bytes = tarball === undefined ? '' : readFileSync(tarball);
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const file = `${url}/-/${basename(tarball ?? 'none.tgz')}`;
    const dist = { tarball: `http://127.0.0.1:${server.address().port}${file}`, integrity };
    const versions = { [version]: { ...manifest, dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: path, 'dist-tags': { latest: version }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Runs a program of Node.js in a folder; rejects with its output if it fails. */
async function node(args, cwd, env = {}) {
  const options = { cwd, env: npmEnvironment(place, env), timeout: limitMs };
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch((error) =>
    assert.fail(`${error.message}\n${error.stdout}\n${error.stderr}`),
  );
  return stdout;
}

/** An application that has nothing installed yet. */
function application(name, files = {}) {
  const folder = join(place, name);
  mkdirSync(folder);
  const manifest = { name: 'application', private: true, dependencies: { millrace: '*' } };
  const all = {
    'package.json': JSON.stringify(manifest),
    'main.mjs': `
      import { batch, native, nativeError } from 'millrace';
      const double = batch(async (items) => items.map((item) => item * 2));
      const doubled = await Promise.all([double(1), double(2)]);
      console.log(JSON.stringify({ doubled, native: native === null ? null : typeof native, error: nativeError }));
    `,
    ...files,
  };
  for (const [path, text] of Object.entries(all)) writeFileSync(join(folder, path), text);
  return folder;
}

const origin = () => `http://127.0.0.1:${registry.address().port}`;

describe('pnpm', () => {
  const pnpm = (args, folder) => {
    const settings = { npm_config_registry: origin(), npm_config_store_dir: join(place, 'store') };
    return node([command('pnpm/bin/pnpm.cjs'), ...args], folder, settings);
  };

  test('installs the addon of this platform alone, and it is found', async () => {
    const folder = application('pnpm');
    await pnpm(['install'], folder);
    assert.deepEqual(JSON.parse(await node(['main.mjs'], folder)), works);
    const { version } = (await packed()).get('millrace').manifest;
    const installed = (name) =>
      existsSync(join(folder, `node_modules/.pnpm/@millrace+${name}@${version}`));
    assert.deepEqual(platforms.filter(installed), [thisPlatform()]);
  });

  test('without optional packages JavaScript does the work', async () => {
    const folder = application('pnpm without');
    await pnpm(['install', '--no-optional'], folder);
    const { native, doubled, error } = JSON.parse(await node(['main.mjs'], folder));
    assert.deepEqual({ native, doubled }, { native: null, doubled: [2, 4] });
    assert.match(error, /is not installed where it runs$/);
  });
});

describe('Yarn', () => {
  for (const linker of ['node-modules', 'pnp']) {
    test(`with nodeLinker ${linker} installs the addon of this platform, and it is found`, async () => {
      const settings = [
        `nodeLinker: ${linker}`,
        `npmRegistryServer: ${origin()}`,
        'unsafeHttpWhitelist: ["127.0.0.1"]',
        'enableGlobalCache: false',
        'enableTelemetry: false',
        'npmMinimalAgeGate: 0',
      ];
      const folder = application(`yarn ${linker}`, {
        '.yarnrc.yml': settings.join('\n'),
        'yarn.lock': '',
      });
      const yarn = command('@yarnpkg/cli-dist/bin/yarn.js');
      const env = { YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' };
      await node([yarn, 'install'], folder, env);
      const stdout = await node([yarn, 'node', 'main.mjs'], folder, env);
      assert.deepEqual(JSON.parse(stdout), works);
      assert.equal(existsSync(join(folder, '.pnp.cjs')), linker === 'pnp');
    });
  }
});
