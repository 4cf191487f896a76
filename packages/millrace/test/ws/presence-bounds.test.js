/** Memory for presences of other nodes is bounded, whatever they say of themselves. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { costOf, Presences, Register } from '../../dist/ws/presence.js';

const entry = (key, bytes = 100) => ({ key, room: 'x', presence: { id: `${key}` }, bytes });
const one = costOf(entry(0));

describe('presences of other nodes', () => {
  test('are bounded in bytes', () => {
    const register = new Register(2 * one);
    assert.equal(register.fits(entry(1)), true);
    register.add('a', entry(1));
    register.add('a', entry(2));
    assert.equal(register.fits(entry(3)), false);
    register.remove('a', 1);
    assert.equal(register.fits(entry(3)), true);
    assert.equal(register.fits(entry(3, 101)), false);
  });

  test('beyond the bound are told to nobody, and counted', () => {
    const presences = new Presences('own', undefined);
    const huge = entry(1, 2 ** 30);
    assert.equal(presences.replace('a', [huge, entry(2)], 'node'), 1);
    assert.equal(presences.add('a', huge, 'member'), false);
    assert.deepEqual(presences.in('x'), [entry(2).presence]);
  });
});
