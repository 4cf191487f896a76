/** The entry points of a package in a bundle: each works, or refuses with a sentence that says what has to be installed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { read, root, typed } from './paths.js';

const modules = join(root, 'node_modules');
/** Packages in CommonJS, which esbuild cannot put into a bundle of ES modules, whoever uses them; or the application brings them. */
const external = ['ws', '@nats-io/transport-node', '@nats-io/jetstream', 'async-cache-dedupe'];

/** Message of a program that needs files of a package which is not installed where its bundle runs. */
export const bundled = (who, name) => ({
  code: 'MILLRACE_E_BUNDLED',
  message: `${who} needs files that a bundle does not have, and the package ${name} is not installed where it runs; install it there, or bundle with --external:${name}`,
});

/**
 * @param {string} name of the folder of the package; its programs are in `test-package/bundled`
 * @param {Record<string, Program>} programs by the entry point that each uses; what stands behind a colon tells two apart
 * @param {(t: import('node:test').TestContext) => Promise<Record<string, string>>} [environment] what they need
 *
 * @typedef {object} Program
 * @property {string} file its name without the extension. It is run with the path of `given` and a folder as its arguments
 * @property {string} [given] a file that is not in the bundle; a task unless another is named
 * @property {object} works its output with the packages installed beside the bundle
 * @property {object} [alone] its output without them, if that differs
 * @property {string | false} [skip]
 */
export function testBundles(name, programs, environment = async () => ({})) {
  const sources = join(root, 'packages', name, 'test-package/bundled');
  const folder = mkdtempSync(join(tmpdir(), 'millrace bundles '));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const beside = join(folder, 'beside');
  const alone = join(folder, 'alone');

  before(() => {
    for (const place of [beside, alone]) {
      for (const each of external) link(join(modules, each), place, each);
      cpSync(join(root, 'scripts/lib/bundled/task.mjs'), join(place, 'task.mjs'));
    }
    for (const each of typed) {
      const own = each === 'millrace' ? each : `@millrace/${each}`;
      link(join(root, 'packages', each), beside, own);
    }
  });

  test('there is a program for every entry point', () => {
    const manifest = JSON.parse(read(`packages/${name}/package.json`));
    const entries = Object.keys(manifest.exports).filter((each) => !each.endsWith('.json'));
    const tested = new Set(Object.keys(programs).map((each) => each.split(':')[0]));
    assert.deepEqual([...tested].toSorted(), entries.toSorted());
  });

  for (const format of ['esm', 'cjs']) {
    for (const [entry, program] of Object.entries(programs)) {
      describe(`${entry}, bundled as ${format}`, { skip: program.skip }, () => {
        const { file, given, works } = program;
        const output = `${file}.${format === 'esm' ? 'mjs' : 'cjs'}`;
        let warnings;

        before(async () => {
          const own = join(sources, `${file}.cjs`);
          ({ warnings } = await build({
            entryPoints: [format === 'cjs' && existsSync(own) ? own : join(sources, `${file}.mjs`)],
            outfile: join(beside, output),
            nodePaths: [modules],
            bundle: true,
            platform: 'node',
            target: 'node20',
            format,
            external,
            logLevel: 'silent',
          }));
          cpSync(join(beside, output), join(alone, output));
          if (given === undefined) return;
          for (const place of [beside, alone]) cpSync(join(sources, given), join(place, given));
        });

        test('is built without a warning', () => {
          assert.deepEqual(
            warnings.map(({ text }) => text),
            [],
          );
        });

        test('works beside the package', async (t) => {
          assert.deepEqual(await run(t, beside, output, given), works);
        });

        const otherwise = program.alone ?? works;
        test(otherwise === works ? 'works alone' : 'refuses alone what it cannot', async (t) => {
          assert.deepEqual(await run(t, alone, output, given), otherwise);
        });
      });
    }
  }

  /** Runs a bundle, and returns its output. */
  async function run(t, cwd, output, given = 'task.mjs') {
    const { MILLRACE_NATIVE: _, NODE_OPTIONS: __, ...inherited } = process.env;
    const env = { ...inherited, ...(await environment(t)) };
    const args = [output, join(cwd, given), folder];
    const options = { cwd, env, timeout: 120_000 };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    assert.equal(stderr, '');
    return JSON.parse(stdout);
  }
}

function link(target, place, name) {
  const path = join(place, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
