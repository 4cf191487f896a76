import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { CLAIMS } from '../../lib/claims.js';
import { names as allNames, loadNamed } from '../../lib/named.js';
import { isOf } from '../claim-rows.js';
import { suiteNames } from '../run.js';

const root = new URL('../../../../', import.meta.url);
const experiments = new Map();
for (const name of allNames()) experiments.set(name, await loadNamed(name));

test('every claim of the documents names one way of testing it, which is there', () => {
  for (const { text, tests, bound, bench, declined, beside = [] } of CLAIMS) {
    const ways = [tests, bound, bench, declined];
    assert.equal(ways.filter((way) => way !== undefined).length, 1, text);
    for (const { experiment, metric, arm } of [...(tests ?? []), bound ?? [], beside].flat()) {
      const found = experiments.get(experiment);
      assert.ok(found, `${text}: there is no experiment ${experiment}`);
      assert.ok(
        found.metrics.some(({ name }) => name === metric),
        `${text}: ${experiment} has no metric ${metric}`,
      );
      const arms = found.treatments.map(({ name }) => name);
      assert.ok(
        arm === undefined || arms.includes(arm),
        `${text}: ${experiment} has no arm ${arm}`,
      );
    }
    if (bench) {
      assert.ok(existsSync(new URL(`bench/cases/${bench.name}.js`, root)), bench.name);
      assert.ok(existsSync(new URL(`docs/research/${bench.page}`, root)), bench.page);
    }
  }
});

test('every one that is tested is a claim of its experiment, with the same figure', () => {
  for (const listed of CLAIMS) {
    for (const way of listed.tests ?? []) {
      const { claims } = experiments.get(way.experiment);
      assert.ok(
        claims.some((claim) => isOf(claim, way, listed)),
        `${listed.text}: ${way.experiment} does not claim ${listed.claimed ?? 'it'} of ${way.metric}`,
      );
    }
  }
});

test('every claim of an experiment of the suite is in the list', () => {
  const names = suiteNames([...experiments.keys()], 'paper');
  for (const name of names) {
    const { claims } = experiments.get(name);
    for (const claim of claims) {
      const isListed = CLAIMS.some((listed) =>
        listed.tests?.some((way) => way.experiment === name && isOf(claim, way, listed)),
      );
      assert.ok(isListed, `${name}: ${claim.text}`);
    }
  }
});

test('no claim has a verdict from a metric that is told beside it', () => {
  for (const { text, tests = [], bound, beside = [] } of CLAIMS) {
    const judged = [...tests, bound ?? []].flat().map(({ metric }) => metric);
    const both = beside.filter(({ metric }) => judged.includes(metric));
    assert.deepEqual(both, [], text);
  }
});

test('no figure stands twice in the list for one document', () => {
  const keys = CLAIMS.map(({ source, text }) => `${source}: ${text}`);
  assert.equal(new Set(keys).size, keys.length);
  for (const { text, claimed } of CLAIMS) assert.ok(claimed === null || claimed > 0, text);
});
