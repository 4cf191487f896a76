// Options: defaults, what is given, and errors that name the way out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classOf, classOfType } from '../../dist/core/intake/priority.js';
import {
  checkKeys,
  complete,
  defaults,
  givenOptions,
  queueOptionNames,
  retainDefaults,
  retainOptions,
} from '../../dist/core/options.js';
import { codes, MillraceError, show } from '../../dist/errors.js';

test('every option has a default, and defaults are allowed values', () => {
  assert.deepEqual(Object.keys(defaults).sort(), [...queueOptionNames].sort());
  assert.deepEqual(givenOptions(defaults), { ...defaults });
  assert.deepEqual(retainOptions({ ...retainDefaults }), { ...retainDefaults });
});

test('undefined counts as not given; what is unknown here is not looked at', () => {
  assert.deepEqual(givenOptions({ maxBatch: undefined, policy: 'fixed', other: 1 }), {
    policy: 'fixed',
  });
});

test('complete fills in what was not given', () => {
  assert.deepEqual(complete({ maxBatch: 3 }), { ...defaults, maxBatch: 3 });
});

test('retain: true is the defaults, false is null, an object changes what it names', () => {
  assert.deepEqual(retainOptions(true), { ...retainDefaults });
  assert.equal(retainOptions(false), null);
  assert.deepEqual(retainOptions({ max: 5 }, { ...retainDefaults, maxAge: 7 }), {
    ...retainDefaults,
    maxAge: 7,
    max: 5,
  });
});

test('checkKeys names the unknown key and the known ones', () => {
  assert.doesNotThrow(() => checkKeys('it', { a: 1 }, ['a', 'b']));
  assert.throws(
    () => checkKeys('it', { c: 1 }, ['a', 'b']),
    /unknown option 'c' in it; known are a, b/,
  );
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
  assert.deepEqual(['high', 'normal', 'low'].map(classOf), [0, 1, 2]);
  for (const bad of [
    'toString',
    '__proto__',
    'HIGH',
    ['high'],
    null,
    undefined,
    0,
    Symbol('high'),
  ]) {
    assert.throws(() => classOf(bad), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: /'high', 'normal', 'low'/,
    });
  }
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
