import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bucket } from '../flood.js';

test('twice the limit may come at once, then one for each interval', () => {
  const bucket = new Bucket(5, 0);
  for (let n = 0; n < 10; n += 1) assert.equal(bucket.take(0), 0);
  assert.equal(bucket.take(0), 200);
  assert.equal(bucket.take(100), 100);
  assert.equal(bucket.take(200), 0);
  assert.equal(bucket.take(200), 200);
});

test('strikes add up until a second passes in which the client was quiet', () => {
  const bucket = new Bucket(5, 0);
  for (let n = 0; n < 13; n += 1) bucket.take(0);
  assert.equal(bucket.strikes, 3);
  bucket.take(200);
  assert.equal(bucket.strikes, 3);
  bucket.take(1200);
  assert.equal(bucket.strikes, 0);
});

test('0 is no limit', () => {
  const bucket = new Bucket(0, 0);
  for (let n = 0; n < 1000; n += 1) assert.equal(bucket.take(0), 0);
});
