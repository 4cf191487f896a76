import assert from 'node:assert/strict';
import test from 'node:test';
import { measure } from '../../../packages/lab/experiment/measure.js';
import { armFor } from '../../../packages/lab/experiment/plan.js';
import { misplaced, refusalOfRound } from '../../../packages/lab/experiment/refusal.js';
import { cleanupFor } from '../../../packages/lab/experiment/test/support.js';
import { names as allNames, loadNamed } from '../lib/named.js';
import { suiteNames } from '../suite/run.js';

const names = allNames().filter((name) => name.startsWith('auto-'));

test('the quick suite of the documents has none of them', () => {
  assert.ok(names.length > 0);
  assert.deepEqual(suiteNames(names, true), []);
});

for (const name of names) {
  test(`a small round of ${name}: the arms do the same, with auto where it should be`, async (t) => {
    const { control, treatments, load, cases, metrics } = await loadNamed(name);
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
