/** Tests of each package as it is published; the package's own test lists its contents and its needs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { node } from './installed.js';
import { packed } from './packed.js';
import { root } from './paths.js';

/** Built files that are published of a package in TypeScript. */
export const built = [/^dist\/.+\.(c?js|d\.c?ts)$/];

/** Problems of Node.js before 12, and those that only a compiler older than TypeScript 5.8 has with `require()` of ES modules. */
const isOld = ({ kind, resolutionKind }) =>
  resolutionKind === 'node10' || kind === 'CJSResolvesToESM';

/**
 * @param {string} name of the package
 * @param {object} expected
 * @param {Awaited<ReturnType<typeof import('./installed.js').install>>} expected.installation of it
 * @param {RegExp[]} [expected.contents] each matches some of its files, beside those that all packages have
 * @param {RegExp[]} [expected.also] files that may be there
 * @param {string[]} [expected.dependencies] packages of others that it needs
 * @param {string[]} [expected.effects] entry points that are imported for what they do
 * @param {string} [expected.program] a user's, whose types are checked beside the entry points
 */
export async function testPackage(
  name,
  {
    installation,
    contents = built,
    also = [],
    dependencies = [],
    effects = [],
    program: used = '',
  },
) {
  const all = await packed();
  const { manifest, tarball, files } = all.get(name);
  const data = new Uint8Array(readFileSync(tarball));
  const paths = Object.keys(manifest.exports);
  const entries = paths
    .filter((path) => !path.endsWith('.json'))
    .map((path) => path.replace('.', name));
  const { folder } = installation;

  describe(name, () => {
    test('holds what it needs and nothing else', () => {
      const needed = [/^package\.json$/, /^README\.md$/, /^LICENSE$/, ...contents];
      for (const pattern of needed) {
        assert.ok(
          files.some((path) => pattern.test(path)),
          `nothing matches ${pattern}`,
        );
      }
      const known = [...needed, ...also];
      const unexpected = files.filter((path) => !known.some((each) => each.test(path)));
      assert.deepEqual(unexpected, []);
    });

    test('needs what is listed, and our packages in its own version', () => {
      const { dependencies: needed = {}, peerDependencies = {}, peerDependenciesMeta } = manifest;
      const [ours, others] = [true, false].map((own) =>
        Object.keys(needed).filter((each) => all.has(each) === own),
      );
      assert.deepEqual(others.toSorted(), dependencies.toSorted());
      for (const each of ours) assert.equal(needed[each], manifest.version, each);
      for (const peer of Object.keys(peerDependencies)) {
        assert.equal(peerDependenciesMeta[peer].optional, true, peer);
      }
    });

    test('is installed with its dependencies and nothing else', () => {
      const modules = join(folder, 'node_modules');
      const found = readdirSync(modules)
        .filter((each) => !each.startsWith('.'))
        .flatMap((each) =>
          each.startsWith('@')
            ? readdirSync(join(modules, each)).map((inner) => `${each}/${inner}`)
            : [each],
        );
      assert.deepEqual(found.toSorted(), installation.names.toSorted());
    });

    test('publint has nothing to say', async () => {
      const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true });
      assert.deepEqual(
        messages.map((message) => formatMessage(message, pkg, { color: false })),
        [],
      );
    });

    test('every entry point has its types, and they say what Node.js finds', async () => {
      const { types, problems, entrypoints } = await checkPackage(
        createPackageFromTarballData(data),
      );
      assert.ok(types);
      assert.deepEqual(
        problems.filter((problem) => !isOld(problem)),
        [],
      );
      assert.deepEqual(Object.keys(entrypoints).toSorted(), paths.toSorted());
    });

    test('every entry point loads by import and by require', async () => {
      const program = join(folder, 'every.cjs');
      writeFileSync(
        program,
        `const names = ${JSON.stringify(entries)};
        for (const path of ${JSON.stringify(paths)}) {
          if (path.endsWith('.json')) require('${name}' + path.slice(1));
        }
        const required = process.features.require_module ? names.map((each) => require(each)) : [];
        Promise.all(names.map((each) => import(each))).then((imported) => {
          const keys = imported.map((each) => Object.keys(each).filter((key) => !/^(default|module.exports)$/.test(key)));
          const missing = keys.flatMap((each, i) => each.filter((key) => required[i] && !(key in required[i])));
          const empty = names.filter((_, i) => Object.keys(imported[i]).length === 0);
          console.log(JSON.stringify({ missing, empty }));
        });`,
      );
      const { stdout, stderr } = await node([program], { cwd: folder });
      assert.deepEqual({ ...JSON.parse(stdout), stderr }, { missing: [], empty: [], stderr: '' });
    });

    test('its types compile where declarations of packages are checked, too', () => {
      // What Node.js itself has is all that a user without the optional packages knows.
      for (const each of ['@types/node', 'undici-types']) {
        const to = join(folder, 'node_modules', each);
        mkdirSync(dirname(to), { recursive: true });
        symlinkSync(join(root, 'node_modules', each), to);
      }
      const text = entries.map(
        (each, i) => `import * as entry${i} from '${each}';
        // @ts-expect-error: it is not any
        entry${i}.nothing;\n`,
      );
      const programs = ['mts', 'cts'].map((extension) => join(folder, `program.${extension}`));
      for (const program of programs) writeFileSync(program, text.join(''));
      writeFileSync(programs[0], used, { flag: 'a' });
      const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const args = [tsc, ...options, '--types', 'node', ...programs];
      const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(stdout, '');
    });

    // What is not for bundlers does not say what they may leave out.
    if (manifest.sideEffects === undefined) return;

    test('a bundler needs no optional package', async () => {
      const lines = entries.map((path, i) => `export * as entry${i} from '${path}';`);
      const { errors, warnings } = await bundle(lines.join('\n'), folder);
      assert.deepEqual([...errors, ...warnings], []);
    });

    test('a bundler keeps what is imported for its effect', async () => {
      const kept = [];
      for (const path of entries) {
        const { warnings } = await bundle(`import '${path}';`, folder);
        if (!warnings.some(({ id }) => id === 'ignored-bare-import')) kept.push(path);
      }
      const expected = effects.map((path) => path.replace('.', name));
      assert.deepEqual(kept, expected);
    });
  });
}

function bundle(contents, resolveDir) {
  return build({
    stdin: { contents, resolveDir },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
}
