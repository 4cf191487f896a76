/** What programs that judge npm packages say about ours. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { pack, place, repository } from './install.js';

const packages = {
  // Its scripts only add C, which nobody here looks at.
  millrace: await pack(join(repository, 'node'), ['--ignore-scripts']),
  '@millrace/lab': await pack(join(repository, 'lab')),
};

/** Of a Node.js before 12, and what only a compiler older than TypeScript 5.8 says of `require()` of ES modules. */
const isOld = ({ kind, resolutionKind }) =>
  resolutionKind === 'node10' || kind === 'CJSResolvesToESM';

for (const [name, { tarball }] of Object.entries(packages)) {
  test(`${name}: publint has nothing to say`, async () => {
    const { buffer } = new Uint8Array(readFileSync(tarball));
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg, { color: false })),
      [],
    );
  });

  test(`${name}: every entry point has its types, and they say what Node.js finds`, async () => {
    const data = new Uint8Array(readFileSync(tarball));
    const { types, problems, entrypoints } = await checkPackage(createPackageFromTarballData(data));
    assert.ok(types);
    assert.deepEqual(
      problems.filter((problem) => !isOld(problem)),
      [],
    );
    const { exports } = JSON.parse(
      readFileSync(join(repository, name === 'millrace' ? 'node' : 'lab', 'package.json'), 'utf8'),
    );
    assert.deepEqual(Object.keys(entrypoints).toSorted(), Object.keys(exports).toSorted());
  });
}

test('@millrace/lab: its types compile where declarations of packages are checked, too', () => {
  const folder = join(place, 'typed');
  const lab = join(folder, 'node_modules/@millrace/lab');
  mkdirSync(lab, { recursive: true });
  execFileSync('tar', [
    'xzf',
    packages['@millrace/lab'].tarball,
    '-C',
    lab,
    '--strip-components=1',
  ]);
  symlinkSync(join(repository, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  const program = join(folder, 'program.mts');
  writeFileSync(
    program,
    `import { Cleanup, loadExperiment, runExperiment } from '@millrace/lab/experiment';
    export * as cli from '@millrace/lab/cli';
    export * as load from '@millrace/lab/load';
    export * as http from '@millrace/lab/load/http';
    export * as stats from '@millrace/lab/stats';
    const experiment = await loadExperiment('./cache.js');
    const results = await runExperiment(experiment, { quick: true, seed: 1, cleanup: new Cleanup() });
    console.log(results.figures);
    // @ts-expect-error: there is no such thing
    console.log(results.nothing);`,
  );
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
  const tsc = join(repository, 'node_modules/typescript/bin/tsc');
  const args = [tsc, ...options, '--types', 'node', program];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(stdout, '');
});

test('a bundler keeps what is imported for its effect', async () => {
  const entry = join(place, 'app.mjs');
  writeFileSync(entry, "import 'millrace/auto';\nconsole.log(1);\n");
  const { warnings } = await build({
    entryPoints: [entry],
    nodePaths: [join(repository, 'node_modules')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  assert.deepEqual(
    warnings.filter(({ id }) => id === 'ignored-bare-import').map(({ text }) => text),
    [],
  );
});
