import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOperations } from './generate.js';
import { play, runModel } from './model.js';
import { CLASSES, CODES, readVector, TRIGGERS } from './reader.js';
import { allVectors } from './runner.js';
import { writeVector } from './write.js';

const vectors = allVectors();

for (const vector of vectors) {
  test(`on the model: ${vector.file}`, () => {
    const mismatch = runModel(vector);
    assert.equal(
      mismatch,
      null,
      mismatch &&
        `${vector.file}:${mismatch.line}: expected '${mismatch.expected}', got '${mismatch.actual}'`,
    );
  });
}

test('a mismatch names the line, what was expected and what came', () => {
  const run = (...lines) => runModel(readVector(['# a name', ...lines].join('\n'), 'test.vec'));
  const push = 'push network a';
  assert.deepEqual(run(push, 'turn', 'expect 0 size a'), {
    ...{ line: 4, expected: 'expect 0 size a', actual: 'expect 0 turn a' },
  });
  assert.deepEqual(run(push, 'turn', 'turn'), {
    ...{ line: 3, expected: 'nothing', actual: 'expect 0 turn a' },
  });
  assert.deepEqual(run(push, 'turn'), {
    ...{ line: 3, expected: 'nothing', actual: 'expect 0 turn a' },
  });
  assert.deepEqual(run(push, 'held a'), { line: 3, expected: 'held a', actual: 'nothing' });
  assert.deepEqual(run(push, 'stats queued=2'), {
    ...{ line: 3, expected: 'queued=2', actual: 'queued=1' },
  });
  assert.equal(run('config policy=fixed', push, 'turn', 'hold 50.04'), null);
  assert.equal(run('config policy=fixed', push, 'turn', 'hold 50.06').actual, 'hold 50');
});

test('the vectors use every trigger, code, class, outcome and operation', () => {
  const text = vectors
    .flatMap(({ statements }) => statements)
    .map((statement) => JSON.stringify(statement))
    .join('\n');
  const words = (key, values) => values.map((value) => `"${key}":"${value}"`);
  const expected = [
    ...words('trigger', TRIGGERS),
    ...words('code', CODES),
    ...words('priority', CLASSES),
    ...words('outcome', ['expect', 'hold', 'error', 'unhandled', 'held', 'replayed', 'expired']),
    ...words('op', ['at', 'advance', 'busy', 'push', 'turn', 'handle', 'unhandle', 'cancel']),
    ...words('op', ['fail', 'from', 'signal', 'set', 'flush', 'close']),
    ...words('query', ['estimate', 'stats']),
  ];
  assert.deepEqual(
    expected.filter((word) => !text.includes(word)),
    [],
  );
});

test('no vector is called like another, and each one expects something', () => {
  assert.equal(new Set(vectors.map(({ name }) => name)).size, vectors.length);
  for (const { file, statements } of vectors) {
    const checks = statements.filter(({ kind }) => kind === 'outcome' || kind === 'query');
    assert.ok(checks.length > 0, file);
  }
});

test('random operations are the same for the same seed, and make a vector that the model passes', () => {
  for (let seed = 0; seed < 60; seed++) {
    const statements = randomOperations(seed, 120);
    assert.deepEqual(randomOperations(seed, 120), statements);
    const text = writeVector(`random list ${seed}`, statements, play(statements).outcomes);
    assert.equal(runModel(readVector(text, `${seed}.vec`)), null);
  }
});

test('random operations lose no event on the model', () => {
  for (let seed = 0; seed < 60; seed++) {
    const { model } = play(randomOperations(seed, 120));
    model.close({ discard: seed % 2 === 1 });
    const stats = model.stats();
    const count = (key) => stats[key] ?? 0;
    const left = ['delivered', 'held', 'unhandled', 'superseded'];
    left.push('refused.retention', 'refused.cancelled');
    // A cancel of what is retained does not count here: that event was held already.
    const cancelled = [...model.events.values()].filter((event) => event.cancelled).length;
    const ends = left.reduce((sum, key) => sum + count(key), cancelled);
    assert.equal(count('pushed'), ends, `seed ${seed}`);
    assert.equal(count('queued') + count('retained'), 0, `seed ${seed}`);
  }
});

test('random operations meet every outcome, trigger and code', () => {
  const seen = new Set();
  for (let seed = 0; seed < 300; seed++) {
    for (const outcome of play(randomOperations(seed, 120)).outcomes.flat()) {
      seen.add(outcome.trigger ?? outcome.code ?? outcome.outcome);
    }
  }
  const outcomes = ['hold', 'error', 'unhandled', 'held', 'replayed', 'expired', 'superseded'];
  assert.deepEqual(
    [...TRIGGERS, ...CODES, ...outcomes].filter((word) => !seen.has(word)),
    [],
  );
});
