import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import * as names from '../lib/names.js';

export async function setup() {
  await names.broker({ jetstream: true });
  return { httpServer: createServer() };
}

export const checks = {
  'first-steps': ({ adapter }) => assert.equal(adapter.stats().broker.state, 'up'),
  'durable-rooms': ({ adapter }) => assert.equal(adapter.stats().durable.stored, 1),
};
