import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { keep } from '../../../../packages/lab/experiment/results.js';
import {
  cleanupFor,
  countedExperiment,
  folderFor,
} from '../../../../packages/lab/experiment/test/support.js';
import { Attempts } from '../attempts.js';
import { runSuite } from '../run.js';

test('results that cannot be kept in their folder do not stop the others', async (t) => {
  const folder = folderFor(t);
  const names = ['first', 'second'].map((name) => `${name}-${process.pid}`);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const attempts = new Attempts();
  const suite = await runSuite(
    names.map((name) => countedExperiment(name, join(folder, 'runs'))),
    {
      ...{ size: 'quick', seed: 1, cleanup: cleanupFor(t) },
      onEnd: ({ results }) =>
        attempts.try(() => {
          try {
            keep(results, file);
          } catch (error) {
            // Where it is instead.
            rmSync(error.path);
            throw error;
          }
        }),
    },
  );
  assert.deepEqual(
    suite.entries.map(({ state }) => state),
    ['done', 'done'],
  );
  assert.equal(attempts.hasFailed, true);
});
