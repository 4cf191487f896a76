// The parser of options, and errors that name the way out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codes, MillraceError } from '../dist/errors.cjs';
import { check, parse, parseGiven, parseValue } from '../dist/options.cjs';
import { classOf, classOfType } from '../dist/priority.js';
import {
  above0,
  boolean,
  bytes,
  choice,
  either,
  integer,
  list,
  ms,
  object,
  or,
  partial,
  record,
  required,
  schema,
  secret,
  show,
  text,
} from '../dist/schema.cjs';

const point = schema({ x: required(integer(0, 9)), y: integer(0, 9, 1) });

test('parse completes, parseGiven does not, and neither looks at a prototype for its result', () => {
  assert.deepEqual(parse('it', { x: 3, y: undefined }, point), { x: 3, y: 1 });
  assert.deepEqual(parseGiven('it', { x: 3 }, point), { x: 3 });
  const outer = schema({ whole: object(point), part: partial(point), none: text() });
  assert.deepEqual(parse('it', { whole: { x: 1 }, part: { x: 2 } }, outer), {
    whole: { x: 1, y: 1 },
    part: { x: 2 },
    none: undefined,
  });
});

for (const [options, fields, message] of [
  [{ b: 1 }, { maxBatch: integer(1, 2) }, "it: unknown option 'b'; known are maxBatch"],
  [
    { maxbatch: 1 },
    { maxBatch: integer(1, 2) },
    "it: unknown option 'maxbatch' (is 'maxBatch' meant?); known are maxBatch",
  ],
  [{ a: 0 }, { a: integer(1, 2) }, "it: 'a' is 0; it must be an integer from 1 to 2"],
  [{ a: -1 }, { a: ms(0, 50) }, "it: 'a' is -1; it must be a number from 0 to 50 ms"],
  [
    { a: '1' },
    { a: bytes(1, Number.MAX_SAFE_INTEGER) },
    `it: 'a' is "1"; it must be an integer from 1 to 2^53 - 1 bytes`,
  ],
  [{ a: 0 }, { a: above0(9, 'ms') }, "it: 'a' is 0; it must be a number above 0, up to 9 ms"],
  [{ a: null }, { a: choice(['b', 1]) }, "it: 'a' is null; it must be one of 'b', 1"],
  [{ a: 1 }, { a: secret(text()) }, "it: 'a' is <number>; it must be a string"],
  [{}, { a: required(text()) }, "it: 'a' is undefined; it must be a string"],
  [
    { a: 's' },
    { a: either(boolean(), integer(1, 2), object(point)) },
    `it: 'a' is "s"; it must be true or false, an integer from 1 to 2, or an object`,
  ],
  [
    { a: { x: 10 } },
    { a: either(boolean(), object(point)) },
    "it: 'a.x' is 10; it must be an integer from 0 to 9",
  ],
  [{ a: { x: 1, z: 1 } }, { a: object(point) }, "it: unknown option 'a.z'; known are x, y"],
  [
    { a: [true, 1] },
    { a: list(boolean(), 'an array of flags') },
    "it: 'a[1]' is 1; it must be true or false",
  ],
  [
    { a: { b: 1 } },
    { a: record(boolean(), 'an object of flags') },
    "it: 'a.b' is 1; it must be true or false",
  ],
  [
    { a: { b: true } },
    {
      a: record(
        boolean(),
        'an object of flags',
        text('capitals', (key) => key > 'Z'),
      ),
    },
    undefined,
  ],
  [
    { a: { B: true } },
    {
      a: record(
        boolean(),
        'an object of flags',
        text('small', (key) => key > 'Z'),
      ),
    },
    `it: 'a' is an object with the name "B"; it must be an object whose names are small`,
  ],
]) {
  test(message ?? 'taken', () => {
    if (message === undefined) parse('it', options, schema(fields));
    else assert.throws(() => parse('it', options, schema(fields)), { message });
  });
}

test('unknown names can be ignored, or refused only where another is probably meant', () => {
  const fields = { maxBatch: integer(1, 2) };
  check('it', { maxbatch: 1 }, schema(fields, { unknown: 'ignored' }));
  const lenient = schema(fields, { unknown: 'misspelt' });
  check('it', { prefix: 1 }, lenient);
  assert.throws(() => check('it', { maxbatch: 1 }, lenient), /is 'maxBatch' meant/);
});

test('null is a mistake, unless the schema says that it is none', () => {
  const fields = { a: or(boolean(), true) };
  assert.throws(() => parse('it', { a: null }, schema(fields)), /'a' is null/);
  assert.deepEqual(parse('it', { a: null }, schema(fields, { isNullAbsent: true })), { a: true });
});

test('names of Object.prototype are unknown', () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    const options = JSON.parse(`{ "${name}": 1 }`);
    assert.throws(() => check('it', options, point), /unknown option/);
  }
});

test('one value is checked by a field', () => {
  assert.equal(parseValue('it', 'a', 5, integer(1, 5)), 5);
  assert.throws(() => parseValue('it', 'a', 6, integer(1, 5)), { message: /^it: 'a' is 6; / });
});

test('classes come from names of types, and from names of classes', () => {
  const expected = {
    signal: 0,
    process: 0,
    async: 0,
    network: 1,
    stream: 1,
    idle: 2,
    work: 2,
    background: 2,
    other: 1,
  };
  for (const [type, level] of Object.entries(expected))
    assert.equal(classOfType(type), level, type);
  assert.equal(classOfType(Symbol('signal')), 1);
  assert.deepEqual(
    ['high', 'normal', 'low'].map((name) => classOf(name)),
    [0, 1, 2],
  );
});

test('an error has name, code, message and cause', () => {
  const cause = new Error('cause');
  const error = new MillraceError('MILLRACE_E_CLOSED', 'closed', { cause });
  assert.ok(error instanceof Error);
  assert.deepEqual(
    [error.name, error.code, error.message, error.cause],
    ['MillraceError', 'MILLRACE_E_CLOSED', 'closed', cause],
  );
  assert.ok(Object.keys(codes).every((code) => code.startsWith('MILLRACE_E_')));
});

test('show never throws, and is short', () => {
  const hostile = {
    get constructor() {
      throw new Error('hostile');
    },
  };
  for (const value of [
    undefined,
    null,
    0,
    -0,
    Number.NaN,
    1n,
    'text',
    'x'.repeat(5000),
    Symbol('s'),
    () => {},
    [],
    {},
    Object.create(null),
    new Map(),
    new Proxy({}, {}),
    { constructor: { name: Symbol('s') } },
    hostile,
  ]) {
    assert.ok(show(value).length < 120);
  }
});

test('a default that is an object is the same for all, so nobody can change it', () => {
  const field = or(record(integer(1, 9)), { a: 1 });
  const { one } = parse('it', {}, schema({ one: field }));
  assert.throws(() => {
    one.a = 2;
  }, TypeError);
  const { two } = parse('it', {}, schema({ two: field }));
  assert.deepEqual(two, { a: 1 });
});
