import assert from 'node:assert/strict';
import * as names from '../lib/names.js';

const given = names.storage();

export const setup = async () => given;

export const checks = {
  'nodejs-4': () => assert.deepEqual(given.inserts, [[{ text: 'one' }, { text: 'two' }]]),
};
