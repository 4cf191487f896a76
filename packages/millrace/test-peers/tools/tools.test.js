/**
 * A program with batch(), rooms and auto, through each bundler, loader, framework and test runner: it does the same as in plain Node.js.
 * The packages are those that would be published. The table of docs/reference/addon.md says the same as the cases here.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import resolve from '@rollup/plugin-node-resolve';
import * as esbuild from 'esbuild';
import { inject } from 'postject';
import { rollup } from 'rollup';
import * as vite from 'vite';
import webpack from 'webpack';
import { packed } from '../../../../scripts/lib/packed.js';

const here = import.meta.dirname;
const programs = join(here, 'programs');
const built = join(here, 'build');
const main = join(programs, 'main.mjs');
const command = (path) => join(here, 'node_modules', path);

/** Compilers on a busy machine. */
const limitMs = 1_200_000;
const ours = ['millrace', '@millrace/base', '@millrace/guard', '@millrace/monitor'];
const expected = { doubled: [2, 4], sizes: [2], text: 'published', auto: 'active' };

before(async () => {
  rmSync(built, { recursive: true, force: true });
  const all = await packed();
  for (const name of ours) {
    const folder = command(name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const { tarball } = all.get(name);
    await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  }
});

/** Runs a program; rejects with its output if it fails. */
async function run(path, args, { cwd = here, env = {} } = {}) {
  const usual = Object.entries(process.env).filter(([name]) => !/^(NODE_|MILLRACE)/.test(name));
  const options = { cwd, env: { ...Object.fromEntries(usual), ...env }, timeout: limitMs };
  const child = promisify(execFile)(path, args, options);
  const { stdout } = await child.catch(({ message, stdout, stderr }) =>
    assert.fail(`${message}\n${stdout}\n${stderr}`),
  );
  return stdout;
}

const node = async (...args) => JSON.parse(await run(process.execPath, args));

describe('esbuild', () => {
  const bundle = async (entry, options) => {
    const outfile = join(built, `esbuild-${options.format}`, entry);
    const { warnings } = await esbuild.build({
      ...{ entryPoints: [join(programs, entry)], outfile },
      ...{ bundle: true, platform: 'node', target: 'node20', logLevel: 'silent' },
      ...options,
    });
    assert.deepEqual(warnings, []);
    return node(outfile);
  };

  test('makes an ES module, where ws stays outside', async () => {
    assert.deepEqual(await bundle('main.mjs', { format: 'esm', external: ['ws'] }), expected);
  });

  test('makes a CommonJS file of everything', async () => {
    assert.deepEqual(await bundle('main.cjs', { format: 'cjs' }), expected);
  });
});

describe('Rollup', () => {
  test('makes ES modules of everything, without a warning', async () => {
    const bundle = await rollup({
      input: main,
      plugins: [resolve({ preferBuiltins: true }), commonjs(), json()],
      onwarn: ({ message }) => assert.fail(message),
    });
    const names = { entryFileNames: 'main.mjs', chunkFileNames: '[name].mjs' };
    const dir = join(built, 'rollup');
    await bundle.write({ dir, format: 'es', ...names });
    assert.deepEqual(await node(join(dir, 'main.mjs')), expected);
  });
});

describe('webpack', () => {
  test('makes a CommonJS file of everything', async () => {
    const output = { path: join(built, 'webpack'), filename: 'main.cjs' };
    const stats = await promisify(webpack)({
      ...{ mode: 'production', target: 'node20', entry: main, output },
      optimization: { minimize: false },
    });
    assert.equal(stats.toString({ all: false, errors: true }), '');
    assert.deepEqual(await node(join(output.path, output.filename)), expected);
  });
});

describe('Vite', () => {
  for (const [what, ssr] of Object.entries({
    'that imports the packages': {},
    'that contains the packages': { noExternal: true },
  })) {
    test(`builds a server ${what}`, async () => {
      const outDir = join(built, `vite ${what}`);
      await vite.build({
        ...{ root: programs, configFile: false, logLevel: 'warn', ssr },
        build: {
          ...{ ssr: main, outDir, target: 'node20' },
          rollupOptions: { output: { entryFileNames: 'main.mjs' } },
        },
      });
      assert.deepEqual(await node(join(outDir, 'main.mjs')), expected);
    });
  }
});

describe('Next.js', () => {
  const folder = join(programs, 'next');

  test('builds a standalone server', async (t) => {
    rmSync(join(folder, 'build'), { recursive: true, force: true });
    const env = { NEXT_TELEMETRY_DISABLED: '1' };
    await run(process.execPath, [command('next/dist/bin/next'), 'build', folder], { env });
    const port = await freePort();
    const server = spawn(process.execPath, ['server.js'], {
      cwd: join(folder, 'build/standalone/programs/next'),
      env: { PATH: process.env.PATH, HOSTNAME: '127.0.0.1', PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.after(() => server.kill());
    let log = '';
    server.stderr.on('data', (text) => {
      log += text;
    });
    const response = await whenServed(`http://127.0.0.1:${port}/`, server, () => log);
    assert.equal(response.status, 200, log);
    assert.deepEqual(await response.json(), expected);
  });

  async function freePort() {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    return port;
  }

  async function whenServed(url, server, log) {
    for (;;) {
      const response = await fetch(url).catch(() => null);
      if (response !== null) return response;
      if (server.exitCode !== null) assert.fail(`the server has ended: ${log()}`);
      await sleep(50);
    }
  }
});

describe('a single executable of Node.js', () => {
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  let folder;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-sea-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('has everything in one file', async () => {
    const bundled = join(folder, 'main.cjs');
    await esbuild.build({
      ...{ entryPoints: [join(programs, 'main.cjs')], outfile: bundled },
      ...{ bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'silent' },
    });
    const blob = join(folder, 'main.blob');
    const config = join(folder, 'sea-config.json');
    const settings = { main: bundled, output: blob, disableExperimentalSEAWarning: true };
    writeFileSync(config, JSON.stringify(settings));
    await run(process.execPath, ['--experimental-sea-config', config]);
    const executable = join(folder, 'main');
    copyFileSync(process.execPath, executable);
    chmodSync(executable, 0o755);
    await inject(executable, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: fuse });
    assert.deepEqual(JSON.parse(await run(executable, [], { cwd: folder })), expected);
  });
});

describe('tsx', () => {
  test('runs an ES module in TypeScript', async () => {
    const path = join(programs, 'main.ts');
    assert.deepEqual(await node(command('tsx/dist/cli.mjs'), path), expected);
  });
});

describe('ts-node', () => {
  // It needs require() of ES modules.
  const skip = process.features.require_module ? false : 'Node.js 20.19 is needed, or 22.12';

  test('checks and runs CommonJS in TypeScript', { skip }, async () => {
    const path = join(programs, 'commonjs/main.ts');
    assert.deepEqual(await node(command('ts-node/dist/bin.js'), path), expected);
  });
});

describe('Jest', () => {
  test('runs tests as ES modules', async () => {
    const config = {
      rootDir: join(programs, 'jest'),
      testMatch: ['**/*.spec.js'],
      transform: {},
      moduleFileExtensions: ['js', 'cjs', 'mjs', 'json', 'node'],
      testTimeout: limitMs,
      watchman: false,
      cacheDirectory: join(built, 'jest'),
    };
    const args = ['--ci', '--runInBand', '--json', '--config', JSON.stringify(config)];
    const flags = ['--experimental-vm-modules', '--no-warnings'];
    const { numPassedTests } = await node(...flags, command('jest/bin/jest.js'), ...args);
    assert.equal(numPassedTests, 1);
  });
});

describe('Vitest', () => {
  test('runs tests', async () => {
    const args = ['run', '--root', join(programs, 'vitest'), '--reporter=json'];
    const timeout = `--testTimeout=${limitMs}`;
    const { numPassedTests } = await node(command('vitest/vitest.mjs'), ...args, timeout);
    assert.equal(numPassedTests, 1);
  });
});
