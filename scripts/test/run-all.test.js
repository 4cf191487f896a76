import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../lib/failure.js';
import { runAll } from '../lib/run-all.js';

async function run(failing) {
  const [done, lines] = [[], []];
  const work = async (name) => {
    done.push(name);
    if (name === failing) throw new Failure('it was refused');
  };
  const failure = await runAll(['a', 'b', 'c'], work, (line) => lines.push(line)).then(
    () => null,
    (error) => error,
  );
  return { done, lines, failure };
}

describe('runAll', () => {
  test('does each in order, and says how long each took', async () => {
    const { done, lines, failure } = await run(null);
    assert.deepEqual(done, ['a', 'b', 'c']);
    assert.equal(failure, null);
    assert.equal(lines.length, 4);
    assert.match(lines[1], /^b +0\.0 min {2}done$/);
    assert.match(lines[3], /^together +0\.0 min$/);
  });

  test('goes on after one that fails, and names it at the end', async () => {
    const { done, lines, failure } = await run('b');
    assert.deepEqual(done, ['a', 'b', 'c']);
    assert.match(lines[1], /^b +0\.0 min {2}it was refused$/);
    assert.ok(failure instanceof Failure);
    assert.equal(failure.message, 'not measured: b');
  });

  test('ends at once with an error that nobody expected', async () => {
    const done = [];
    const broken = async (name) => {
      done.push(name);
      throw new TypeError('a mistake');
    };
    await assert.rejects(
      runAll(['a', 'b'], broken, () => {}),
      TypeError,
    );
    assert.deepEqual(done, ['a']);
  });
});
