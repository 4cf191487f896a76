import assert from 'node:assert/strict';
import test from 'node:test';
import { allowedAre, conform, either, is } from '../form.js';

const fail = (message, key) => {
  throw Object.assign(new Error(message), { key });
};
const said = (value, form, path = 'load') => {
  try {
    conform(value, form, path, fail);
    return null;
  } catch ({ message, key }) {
    return `${key}: ${message}`;
  }
};

test('a missing, mistyped or wrong value is reported with its key', () => {
  const form = { rate: is.positive, 'warmup?': is.function };
  assert.equal(said({ rate: 5 }, form), null);
  assert.equal(said({}, form), 'load: load.rate is missing; it must be a number above 0');
  assert.equal(said({ rate: -1 }, form), 'load.rate: load.rate is -1; it must be a number above 0');
  assert.equal(said(7, form), 'load: load is 7; it must be an object');
  assert.equal(
    said({ rate: 1, warmUp: 1 }, form),
    'load.warmUp: the key "load.warmUp" is not known (did you mean "warmup"?); allowed are "rate", "warmup"',
  );
});

test('the nearest name is suggested, and none where all are far', () => {
  const meant = (word) =>
    /mean "(\w+)"/.exec(allowedAre(word, ['control', 'treatment', 'load']))?.[1];
  assert.equal(meant('treatmnt'), 'treatment');
  assert.equal(meant('Treatments'), 'treatment');
  assert.equal(meant('contorl'), 'control');
  assert.equal(meant('lod'), 'load');
  assert.equal(meant('banana'), undefined);
  assert.equal(allowedAre(undefined, ['a']), '; allowed are "a"');
  assert.equal(allowedAre('a', []), '; allowed are ');
});

test('a rule may be one of several', () => {
  const form = { command: either(is.strings, is.function) };
  assert.equal(said({ command: ['node'] }, form), null);
  assert.equal(said({ command: () => {} }, form), null);
  assert.match(said({ command: 'node' }, form), /must be a list of texts, or a function$/);
});

test('addresses of servers', () => {
  const [, isUrl] = is.url;
  for (const url of ['http://127.0.0.1:3000', 'ws://localhost:1/x', 'http://127.0.0.1:{port}/']) {
    assert.ok(isUrl(url), url);
  }
  for (const url of ['127.0.0.1:3000', 'ftp://x', 'http://', 7]) assert.ok(!isUrl(url), `${url}`);
});
