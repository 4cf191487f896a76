import assert from 'node:assert/strict';
import test from 'node:test';
import { isLocalPath, whyNotLocal } from '../loopback.js';

test('addresses of this machine alone are allowed, without a user', () => {
  for (const url of [
    'http://127.0.0.1:3000/',
    'http://127.9.9.9',
    'http://localhost:1',
    'http://[::1]:8/x?y',
  ]) {
    assert.equal(whyNotLocal(url), null);
  }
  assert.equal(whyNotLocal('ws://localhost/', ['ws:']), null);
  for (const url of [
    'https://127.0.0.1/',
    'ws://localhost/',
    'http://example.org/',
    'http://127.0.0.1.example.org/',
    'x',
  ]) {
    assert.match(whyNotLocal(url), /^must begin with http:\/\/ and name this machine/);
  }
  for (const url of ['http://user:word@127.0.0.1/', 'http://127.0.0.1@example.org/']) {
    assert.match(whyNotLocal(url), /^must have no user/);
  }
});

test('a path stays on its server', () => {
  for (const path of ['/', '/a//b', '/?u=http://x/']) assert.equal(isLocalPath(path), true);
  for (const path of ['//example.org/', '/\\example.org/', 'http://example.org/', 'a', '', 1]) {
    assert.equal(isLocalPath(path), false, `${path}`);
  }
});
