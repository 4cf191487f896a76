/** Values of another realm: those of a vm context, and under Jest all that Node.js itself makes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import { isTree } from '../dist/events/record.js';
import { packValues, unpack } from '../dist/socket-io/record.js';

const foreign = (code) => vm.runInNewContext(code);

test('values for other nodes are sent as JSON where that is the same', () => {
  assert.ok(isTree(foreign('({ a: [1, { b: null }] })')));
  for (const code of [
    'new Map()',
    'new Date()',
    'new (class {})()',
    'new (class extends Array {})()',
  ]) {
    assert.ok(!isTree(foreign(code)), code);
  }
});

test('bytes stay bytes on their way to other nodes of socket.io', () => {
  const { head } = unpack(packValues({ kind: 'x', data: foreign('new ArrayBuffer(2)') }));
  assert.deepEqual(head.data, Buffer.alloc(2));
});
