import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { compare } from './compare.js';

const modules = join(import.meta.dirname, '../node_modules');

/**
 * A test of the files of one package: what passes without auto passes with it, and auto was there.
 *
 * @param {object} named
 * @param {string} named.name of the package
 * @param {RegExp} named.files of its folder `test`, by their paths in it
 * @param {number} named.least tests that pass at least, all files taken together
 * @param {string[]} [named.active] features that have to act in one of the processes at least
 */
export function underAuto({ name, files, least, active = [] }) {
  test(`${name} under auto`, { concurrency: 2 }, async (t) => {
    const folder = join(modules, name);
    const results = [];
    const paths = readdirSync(join(folder, 'test'), { recursive: true });
    const those = paths.filter((path) => files.test(path)).sort();
    await Promise.all(
      those.map((path) =>
        t.test(path, async (t) => {
          const result = await compare({ folder, file: join('test', path) });
          results.push(result);
          for (const kind of ['failed', 'flaky', 'withAnyImport']) {
            for (const title of result[kind]) t.diagnostic(`${kind}: ${title}`);
          }
          assert.deepEqual(result.worse, [], result.output);
          assert.ok(result.seen.length > 0, `no process has told of auto: ${result.output}`);
          for (const { ws } of result.seen) assert.match(ws ?? 'missing', /^(waiting|active)$/);
        }),
      ),
    );
    const passed = results.reduce((sum, result) => sum + result.passed, 0);
    const seen = results.flatMap((result) => result.seen);
    t.diagnostic(`${passed} tests in ${those.length} files of ${relative(modules, folder)} pass`);
    assert.ok(passed >= least, `${passed} tests have passed, of ${least} at least`);
    for (const feature of active) {
      assert.ok(
        seen.some((states) => states[feature] === 'active'),
        `${feature} was active in no process`,
      );
    }
  });
}
