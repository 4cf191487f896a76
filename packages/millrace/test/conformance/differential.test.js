// Random operations on the engine and on the reference model: both must cause the same outcomes and end in the same
// state. FUZZ_SECONDS lengthens it; a failure prints the operations as a vector, ready to be kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineRun } from './engine-run.js';
import { randomOperations } from './generate.js';
import { Model } from './model.js';
import { formatOutcome, sameOutcome, step } from './runner.js';
import { writeVector } from './write.js';

const operations = 60;
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
const fewSeeds = seconds > 0 ? 1500 : 80;
// A fixed start in a normal run, so that it fails the same way for everybody; a new one when there is time to search.
const firstSeed = seconds > 0 ? Math.floor(Math.random() * 2 ** 31) : 0;

/** What the two make different of the operations, in words; null when they agree. */
function difference(statements) {
  const model = new Model();
  const engine = new EngineRun();
  for (const statement of statements) {
    const wanted = step(statement, model);
    const got = step(statement, engine);
    const count = Math.max(wanted.length, got.length);
    for (let i = 0; i < count; i++) {
      if (wanted[i] && got[i] && sameOutcome(wanted[i], got[i])) continue;
      return `line ${statement.line}: model ${formatOutcome(wanted[i])}, engine ${formatOutcome(got[i])}`;
    }
    const [a, b] = [model.stats(), engine.stats()];
    for (const key of Object.keys(a)) {
      if (Math.abs(a[key] - (b[key] ?? 0)) > 1e-6) {
        return `line ${statement.line}: ${key} is ${a[key]} in the model, ${b[key]} in the engine`;
      }
    }
  }
  return null;
}

test('the engine agrees with the reference model on random operations', () => {
  const until = Date.now() + seconds * 1000;
  let seed = firstSeed;
  for (; seed < firstSeed + fewSeeds || Date.now() < until; seed++) {
    const statements = randomOperations(seed, operations);
    const found = difference(statements);
    assert.equal(
      found,
      null,
      found && `seed ${seed}: ${found}\n${writeVector('found', statements)}`,
    );
  }
  assert.ok(seed - firstSeed >= fewSeeds);
});
