import assert from 'node:assert/strict';
import test from 'node:test';
import { nearest } from '../dist/schema.cjs';

const known = ['ws', 'fs', 'reads', 'net', 'guard', 'monitor', 'run', 'observe', 'off'];

test('a letter too many, too few, another one, or two in the wrong order', () => {
  const cases = { monitr: 'monitor', gguard: 'guard', raeds: 'reads', gaurd: 'guard', nte: 'net' };
  for (const [name, meant] of Object.entries({
    ...cases,
    rnu: 'run',
    OFF: 'off',
    obs: 'observe',
  })) {
    assert.equal(nearest(name, known), meant, name);
  }
});

test('another word is not guessed', () => {
  for (const name of ['', 'x', 'sw', 'cluster', 'draug', 'constructor']) {
    assert.equal(nearest(name, known), undefined, name);
  }
});
