import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { groups } from '../suites.js';
import { arms, compare } from './compare.js';
import { folderOf } from './sources.js';

/** Part of the processes that have to tell of their features: some are killed, or end themselves in another way. */
const leastSeen = 0.8;
/** All that are on by default, but for one that needs the addon. */
const usual = ['ws', 'fs', 'dns', 'monitor'];

/**
 * Tests of the suites of a group: each has as many tests as are listed, they end in all arms alike, and auto was there.
 *
 * @param {keyof typeof groups} group
 */
export function underAuto(group) {
  for (const suite of groups[group]) {
    if (suite.checkout && !process.env.SUITES) continue;
    test(`${suite.name} under auto`, { concurrency: suite.alone ? 1 : 2 }, (t) => check(suite, t));
  }
}

async function check(suite, t) {
  let folder;
  try {
    folder = folderOf({ ...suite, package: suite.package ?? packageOf(suite) });
  } catch (error) {
    t.skip(error.message);
    return;
  }
  const results = [];
  const {
    folder: below = 'test',
    runner = 'node:test',
    by = 'import',
    flags = [],
    args = [],
    seconds = 60,
  } = suite;
  const paths = readdirSync(join(folder, below), { recursive: true });
  const files = paths.filter((path) => suite.files.test(path)).sort();
  await Promise.all(
    files.map((path) =>
      t.test(path, async (t) => {
        const result = await compare({
          folder,
          file: join(below, path),
          runner,
          by,
          flags,
          args,
          seconds,
        });
        results.push(result);
        for (const kind of ['failed', 'flaky', 'withoutAuto']) {
          for (const line of result[kind]) t.diagnostic(`${kind}: ${line}`);
        }
        const reason = suite.differs?.[path];
        if (reason === undefined) {
          assert.deepEqual(result.differs, [], result.outputs.auto + result.outputs.all);
        }
        for (const line of result.differs) t.diagnostic(`differs: ${line}: ${reason}`);
      }),
    ),
  );
  const sum = (arm, outcome) =>
    results.reduce((total, { counts }) => total + counts[arm][outcome], 0);
  const told = arms.map((arm) => `${arm} ${sum(arm, 'passed')}/${sum(arm, 'failed')}`);
  console.log(`${suite.name} ${suite.version}: ${told.join(', ')}`);
  const all = ['passed', 'failed', 'skipped'].reduce(
    (total, each) => total + sum('plain', each),
    0,
  );
  assert.equal(all, suite.tests, 'another number of tests has run');
  for (const [arm, wanted] of [
    ['auto', suite.active ?? []],
    ['all', usual],
  ]) {
    const seen = results.map((result) => result.seen[arm]);
    const present = seen.filter((threads) => threads.some(({ ws }) => /waiting|active/.test(ws)));
    assert.ok(present.length >= leastSeen * files.length, `${arm}: few processes had auto`);
    for (const feature of wanted) {
      const active = seen.filter((threads) =>
        threads.some((states) => states[feature] === 'active'),
      );
      const least = arm === 'all' ? leastSeen * files.length : 1;
      assert.ok(active.length >= least, `${arm}: ${feature} was seldom active`);
    }
  }
}

/** The tests of Node.js are of no package. */
const packageOf = ({ name }) => (name.startsWith('Node.js') ? undefined : name);
