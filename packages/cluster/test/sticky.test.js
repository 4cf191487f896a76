import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressKey, headKey, ownerOf } from '../dist/sticky.js';

const keys = Array.from({ length: 4000 }, (_, i) => `10.${i >> 8}.${i & 255}.7`);
const slots = [1, 2, 3, 4, 5];

test('nobody is owner of none', () => {
  assert.equal(ownerOf('10.0.0.1', []), null);
});

test('clients are spread evenly', () => {
  const counts = new Map(slots.map((slot) => [slot, 0]));
  for (const key of keys) counts.set(ownerOf(key, slots), counts.get(ownerOf(key, slots)) + 1);
  for (const count of counts.values()) assert.ok(count > 640 && count < 960, [...counts.values()]);
});

test('when a slot goes only its clients move, when one comes they move to it', () => {
  const fewer = slots.filter((slot) => slot !== 3);
  for (const key of keys) {
    const [all, without] = [ownerOf(key, slots), ownerOf(key, fewer)];
    if (all !== 3) assert.equal(without, all);
    assert.equal(ownerOf(key, [...fewer].reverse()), without, 'in any order');
  }
});

test('an address is the same one on a socket of either family', () => {
  assert.equal(addressKey('::ffff:10.0.0.1'), '10.0.0.1');
  assert.equal(addressKey('2001:db8::ffff:1'), '2001:db8::ffff:1');
  assert.equal(addressKey(undefined), '');
});

test('headers and cookies are found as HTTP has them', () => {
  const head = [
    'GET /x-id: no HTTP/1.1',
    'Host: example.org',
    'X-Forwarded-FOR:  10.0.0.9 , 10.1.1.1',
    'cookie: a=1; io=abc=d; b=2',
    'Empty:',
  ].join('\r\n');
  const header = (name) => headKey(head, { by: 'header', name });
  const cookie = (name) => headKey(head, { by: 'cookie', name });
  assert.equal(header('x-forwarded-for'), '10.0.0.9');
  assert.equal(header('HOST'), 'example.org');
  assert.equal(header('empty'), null);
  assert.equal(header('x-id'), null);
  assert.equal(cookie('io'), 'abc=d');
  assert.equal(cookie('b'), '2');
  assert.equal(cookie('c'), null);
  assert.equal(headKey('', { by: 'header', name: 'host' }), null);
});
