import assert from 'node:assert/strict';
import * as names from '../lib/names.js';

const given = names.storage();

export const setup = () => given;

export const checks = {
  'the-first-batch': ({ id }) => {
    assert.equal(id, 1);
    assert.deepEqual(given.inserts, [[{ text: 'hello' }]]);
  },
};
