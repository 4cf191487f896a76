// Every conformance vector, on the engine of this package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineRun } from './engine-run.js';
import { allVectors, runVector } from './runner.js';

const vectors = allVectors();

test('there are at least 120 vectors', () => assert.ok(vectors.length >= 120, `${vectors.length}`));

for (const vector of vectors) {
  test(`${vector.file}: ${vector.name}`, () => {
    const mismatch = runVector(vector, new EngineRun());
    assert.equal(
      mismatch,
      null,
      mismatch &&
        `${vector.file}:${mismatch.line}: expected '${mismatch.expected}', got '${mismatch.actual}'`,
    );
  });
}
