import assert from 'node:assert/strict';
import { pg } from '../lib/names.js';

export const setup = () => ({ pg });

export const checks = {
  'postgresql-query-pipelining': ({ users }) => assert.equal(users.rows[0].name, 'Ada'),
};
