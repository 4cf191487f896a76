/** Every entry point in a bundle: it works, or refuses with a sentence that says what has to be installed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { native } from 'millrace';
import { natsServer, unable } from '../../nats/test/nats.js';
import { copyCode } from '../test/native/code.js';
import { repository } from './install.js';

const sources = fileURLToPath(new URL('bundled/', import.meta.url));
const manifest = JSON.parse(
  readFileSync(join(repository, 'packages/millrace/package.json'), 'utf8'),
);
const modules = join(repository, 'node_modules');
/** They are CommonJS, which esbuild cannot put into a bundle of ES modules, whoever uses them. */
const external = ['ws', '@nats-io/transport-node', '@nats-io/jetstream'];

const bundled = (who) => ({
  code: 'MILLRACE_E_BUNDLED',
  message: `${who} needs files that a bundle does not have, and the package millrace is not installed where it runs; install it there, or bundle with --external:millrace`,
});
const alone = 'it is bundled, and the package millrace is not installed where it runs';

/** Output of each program with the package installed beside the bundle, and without it if that differs. */
const programs = {
  '.': {
    file: 'index',
    works: { doubled: [2, 4], sizes: [2], seen: ['a', 'b'], native, nativeError: null },
    alone: { doubled: [2, 4], sizes: [2], seen: ['a', 'b'], native: null, nativeError: alone },
  },
  './auto': { file: 'auto', works: { state: 'active', why: null } },
  './cluster': {
    file: 'cluster',
    works: { texts: ['served', 'from a file'] },
    alone: { texts: ['served'], ...bundled('serve() with a file') },
  },
  './dashboard': {
    file: 'dashboard',
    works: { statuses: [200, 200, 200] },
    alone: bundled('the dashboard'),
  },
  './fs': { file: 'fs', works: { text: 'abc', bytes: 'abc', code: 'ENOENT' } },
  './guard': { file: 'guard', works: { text: 'guarded', admitted: 1 } },
  './guard: cached()': {
    file: 'cached',
    works: { settings: 'MILLRACE_E_INVALID_OPTION', texts: ['run 1', 'run 1'] },
    alone: bundled('cached()'),
  },
  './metrics': { file: 'metrics', works: { has: true, type: 'function' } },
  './monitor': { file: 'monitor', works: { measured: true } },
  './nats/events': { file: 'events', works: { args: [1, { two: 2 }] }, skip: unable },
  './nats/rooms': { file: 'nats-rooms', works: { states: ['closed', 'closed'] }, skip: unable },
  './nats/socket-io': {
    file: 'nats-socket-io',
    works: { type: 'function', stats: null, code: 'MILLRACE_E_INVALID_ARGUMENT' },
    skip: unable,
  },
  './nats/tasks': {
    file: 'tasks',
    works: { results: [2, 4, 6], stored: 3 },
    alone: bundled('a pool'),
    skip: unable,
  },
  './net': { file: 'net', works: { text: '01234', writes: 5 } },
  './observe': { file: 'observe', works: { text: 'string', reads: 2, pid: true } },
  './pool': {
    file: 'pool',
    works: {
      version: manifest.version,
      results: [2, 4, 6],
      failure: ['RangeError', 'negative', 'E_NEGATIVE'],
    },
    alone: bundled('a pool'),
  },
  './threads': {
    file: 'threads',
    works: { hasHeader: true, api: 'object' },
    alone: {
      code: 'MILLRACE_E_NATIVE',
      message: `millrace/threads needs millrace's addon, and there is none: ${alone}; build it (npm rebuild millrace)`,
    },
  },
  './ws': { file: 'ws', works: { texts: ['by itself', 'published'] } },
  './ws/socket-io': { file: 'ws-socket-io', works: { code: 'MILLRACE_E_INVALID_ARGUMENT' } },
};

const folder = mkdtempSync(join(tmpdir(), 'millrace bundles '));
after(() => rmSync(folder, { recursive: true, force: true }));

before(() => {
  for (const place of ['beside', 'alone']) {
    const packages = join(folder, place, 'node_modules');
    mkdirSync(join(packages, '@nats-io'), { recursive: true });
    const names = external.filter((name) => existsSync(join(modules, name)));
    for (const name of names) symlinkSync(join(modules, name), join(packages, name));
    for (const file of ['task.mjs', 'cluster-app.mjs']) {
      cpSync(join(sources, file), join(folder, place, file));
    }
  }
  symlinkSync(join(repository, 'node'), join(folder, 'beside/node_modules/millrace'));
});

test('there is a program for every entry point', () => {
  const entries = Object.keys(manifest.exports).filter((name) => !name.endsWith('.json'));
  const tested = new Set(Object.keys(programs).map((name) => name.split(':')[0]));
  assert.deepEqual([...tested].toSorted(), entries.toSorted());
});

test('no optional package has to be installed for the build', async () => {
  const bare = join(folder, 'bare');
  const copy = join(bare, 'node_modules/millrace');
  copyCode(copy);
  for (const file of ['package.json', 'config.schema.json']) {
    cpSync(join(repository, 'node', file), join(copy, file));
  }
  const entries = Object.keys(programs).filter((name) => !name.includes(':'));
  const lines = entries.map((name) => `import 'millrace${name.slice(1)}';`);
  const stdin = { contents: lines.join('\n'), resolveDir: bare };
  const { errors } = await build({
    ...{ stdin, bundle: true, write: false, platform: 'node', format: 'esm', logLevel: 'silent' },
  });
  assert.deepEqual(errors, []);
});

for (const format of ['esm', 'cjs']) {
  for (const [name, { file, works, alone = works, skip }] of Object.entries(programs)) {
    describe(`${name}, bundled as ${format}`, { skip }, () => {
      const built = `${file}.${format === 'esm' ? 'mjs' : 'cjs'}`;
      let warnings;

      before(async () => {
        const own = join(sources, `${file}.cjs`);
        ({ warnings } = await build({
          entryPoints: [format === 'cjs' && existsSync(own) ? own : join(sources, `${file}.mjs`)],
          outfile: join(folder, 'beside', built),
          nodePaths: [modules],
          bundle: true,
          platform: 'node',
          target: 'node20',
          format,
          external,
          logLevel: 'silent',
        }));
        cpSync(join(folder, 'beside', built), join(folder, 'alone', built));
      });

      test('is built without a warning', () => {
        assert.deepEqual(
          warnings.map(({ text }) => text),
          [],
        );
      });

      test('works beside the package', async (t) => {
        assert.deepEqual(await run(t, file, join(folder, 'beside'), built), works);
      });

      test(alone === works ? 'works alone' : 'refuses alone what it cannot', async (t) => {
        assert.deepEqual(await run(t, file, join(folder, 'alone'), built), alone);
      });
    });
  }
}

/** Its output. */
async function run(t, file, cwd, built) {
  const { MILLRACE_NATIVE: _, NODE_OPTIONS: __, ...env } = process.env;
  if (/^(events|nats-|tasks)/.test(file))
    env.BROKER = (await natsServer(t, { jetstream: true })).url;
  const first = join(cwd, file === 'cluster' ? 'cluster-app.mjs' : 'task.mjs');
  const args = [built, first, folder, join(cwd, 'task.mjs')];
  const options = { cwd, env, timeout: 120_000 };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}
