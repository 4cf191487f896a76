import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { guard } from '@millrace/guard';

const server = createServer();

export const setup = () => ({ server });

export const checks = {
  // A server has one guard at most.
  'the-change': () => assert.throws(() => guard(server), /has a guard already/),
};
