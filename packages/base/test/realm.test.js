/** Values of another realm: those of a vm context, and under Jest all that Node.js itself makes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import realm from '../dist/realm.cjs';

const foreign = (code) => vm.runInNewContext(code);

describe('isError', () => {
  const errors = {
    'an Error': new Error('x'),
    'a DOMException': new DOMException('x'),
    'what inherits from Error': Object.create(Error.prototype),
    'a foreign Error': foreign('new Error("x")'),
    'a foreign subclass with a name of its own': foreign(
      `new (class extends TypeError { get [Symbol.toStringTag]() { return 'Mine' } })()`,
    ),
    'a foreign DOMException': Object.setPrototypeOf(
      new DOMException('x'),
      foreign(
        'Object.assign(Object.create(Error.prototype), { [Symbol.toStringTag]: "DOMException" })',
      ),
    ),
  };
  for (const [name, value] of Object.entries(errors)) {
    test(`recognises ${name}`, () => assert.equal(realm.isError(value), true));
  }
  test('takes nothing else for one', () => {
    const others = [undefined, null, 'x', 1, {}, { message: 'x', stack: 'y' }, [], () => {}];
    for (const value of others) assert.equal(realm.isError(value), false);
  });
});

test('isURL recognises what Node.js takes for one', () => {
  const { href, protocol } = new URL('file:///a');
  for (const value of [new URL('file:///a'), { href, protocol }]) assert.ok(realm.isURL(value));
  const options = { href, protocol, auth: null, path: '/a' };
  for (const value of ['file:///a', {}, null, options]) assert.ok(!realm.isURL(value));
});
