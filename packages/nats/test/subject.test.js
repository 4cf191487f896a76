// Names that users choose as tokens of a subject: none reaches a subject that is not its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { token } from '../dist/wire.js';

const tokenForm = /^[\w=-]{1,200}$/;

test('plain names stand for themselves', () => {
  for (const name of ['a', 'Room-1', 'under_score', '0', '-', 'x'.repeat(200)]) {
    assert.equal(token(name), name);
  }
});

test('characters with a meaning for NATS have none in a token', () => {
  const tokens = {
    '*': '=2a',
    '>': '=3e',
    'a.b': 'a=2eb',
    'a.>': 'a=2e=3e',
    ' ': '=20',
    'a b': 'a=20b',
    'a\r\nPUB x 0\r\n': 'a=0d=0aPUB=20x=200=0d=0a',
    '\0': '=00',
    $SYS: '=24SYS',
    _INBOX: '_INBOX',
    '': '=',
    '=': '=3d',
    '==': '=3d=3d',
    '=2a': '=3d2a',
    ä: '=c3=a4',
    '🙂': '=f0=9f=99=82',
  };
  for (const [name, expected] of Object.entries(tokens)) assert.equal(token(name), expected);
});

test('long names and those without UTF-8 become hashes of a fixed length', () => {
  const names = [
    'x'.repeat(201),
    '.'.repeat(67),
    '.'.repeat(100_000),
    '\ud800',
    '\udc00',
    '\ud800x',
    '\ufffd',
  ];
  const tokens = names.map(token);
  for (const each of tokens) assert.match(each, tokenForm);
  assert.equal(new Set(tokens).size, names.length);
  // The longest that is written out: 66 times =2e.
  assert.equal(token('.'.repeat(66)).length, 198);
  assert.match(token('.'.repeat(67)), /^==[\w-]{43}$/);
});

test('distinct names have distinct tokens, whatever they are made of', () => {
  const pieces = [
    '.',
    '*',
    '>',
    ' ',
    '\r',
    '\n',
    '\t',
    '\0',
    '=',
    '==',
    '=2e',
    '2e',
    'u',
    'a',
    'A',
    '_',
    '-',
    'é',
    '\ud800',
    '\udfff',
    '\ufffd',
    '🙂',
    'x'.repeat(70),
  ];
  const names = new Map();
  for (const seed of seeds(4000)) {
    const random = randomNumbers(seed);
    let name = '';
    for (let length = random(6); length > 0; length--) name += pieces[random(pieces.length)];
    const made = token(name);
    assert.match(made, tokenForm, `seed ${seed}: ${JSON.stringify(name)}`);
    const other = names.get(made);
    if (other === undefined) names.set(made, name);
    else assert.equal(other, name, `seed ${seed}: two names are ${made}`);
    // Time to search is no reason to keep everything.
    if (names.size > 1_000_000) names.clear();
  }
});
