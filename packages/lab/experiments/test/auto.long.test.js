import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { misplaced } from '../../experiment/active.js';
import { armFor } from '../../experiment/arms.js';
import { loadExperiment } from '../../experiment/files.js';
import { measure } from '../../experiment/measure.js';
import { refusalOfRound } from '../../experiment/refusal.js';
import { cleanupFor } from '../../experiment/test/support.js';
import { suiteNames } from '../../suite/run.js';

const names = readdirSync(new URL('../', import.meta.url))
  .filter((file) => /^auto-.*\.js$/.test(file))
  .map((file) => file.slice(0, -'.js'.length));

test('the quick suite of the documents has none of them', () => {
  assert.ok(names.length > 0);
  assert.deepEqual(suiteNames(names, true), []);
});

for (const name of names) {
  test(`a small round of ${name}: the arms do the same, with auto where it should be`, async (t) => {
    const { control, treatments, load, cases, metrics } = await loadExperiment(name);
    const params = { ...cases[0], size: 'quick', seed: 1 };
    if (params.rate !== undefined) params.rate = 5000;
    const small = { ...load, connections: 20, warmup: 0.2, seconds: 0.5 };
    // The number of clients in a room stays the same.
    if (load.rooms > 1) small.rooms = (20 * load.rooms) / load.connections;
    const runs = [];
    for (const arm of [control, ...treatments]) {
      const role = arm === control ? 'control' : 'treatment';
      const cleanup = cleanupFor(t);
      const settled = armFor(arm, params);
      const run = await measure({ role, arm: settled, load: small, params, round: 1, cleanup });
      assert.deepEqual(run.faults, [], arm.name);
      assert.equal(misplaced(run, arm), null, arm.name);
      for (const { name: metric, of } of metrics) {
        // perf may not count, and a busy machine makes the generator late.
        if (metric === 'syscalls' || (run.late && /_ms$/.test(metric))) continue;
        const value = of(run);
        assert.ok(Number.isFinite(value) && value > 0, `${arm.name}: ${metric} is ${value}`);
      }
      runs.push(run);
    }
    assert.equal(refusalOfRound(runs), null);
  });
}
