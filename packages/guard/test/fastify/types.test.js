// Who has no Fastify compiles the declarations of @millrace/guard all the same, without skipLibCheck.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const installed = dirname(dirname(require.resolve('typescript/package.json')));
const root = join(dirname(fileURLToPath(import.meta.resolve('@millrace/guard'))), '../..');

const program = `
import { createServer } from 'node:http';
import plugin, { Guard, guard, loadSettings, TYPE_RSS_BYTES } from '@millrace/guard';
import type { GuardPluginOptions } from '@millrace/guard';

const options: GuardPluginOptions = { maxRssBytes: 1, guard: { maxWait: 100 } };
const given: Guard = guard(createServer(), { maxWait: 100 });
void loadSettings('millrace.json').then((settings) => plugin({}, { ...settings, ...options }));
void [given, TYPE_RSS_BYTES];
// @ts-expect-error: no such option
guard(createServer(), { maxwait: 100 });
`;

/** Compiles the program where of all that is installed only these packages are; what the compiler says. */
function compile(t, packages) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-types-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@types'), { recursive: true });
  for (const name of ['base', 'guard']) {
    for (const part of ['package.json', 'dist']) {
      cpSync(join(root, name, part), join(modules, '@millrace', name, part), { recursive: true });
    }
  }
  for (const name of packages) symlinkSync(join(installed, name), join(modules, name));
  writeFileSync(join(folder, 'program.ts'), program);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    target: 'ES2022',
    lib: ['ES2023'],
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    skipLibCheck: false,
    preserveSymlinks: true,
    noEmit: true,
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['program.ts'] }),
  );
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [join(installed, 'typescript/bin/tsc'), '--pretty', 'false', '-p', folder],
    { encoding: 'utf8', timeout: 200_000 },
  );
  assert.deepEqual([error, stderr], [undefined, '']);
  return stdout;
}

test('without Fastify', (t) => {
  const packages = ['@types/node', 'undici-types', 'async-cache-dedupe'];
  assert.equal(compile(t, packages), '');
});
