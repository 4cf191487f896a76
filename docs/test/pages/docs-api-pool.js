import assert from 'node:assert/strict';
import { serveTasks } from 'millrace/pool';
import { setup as setupOfDurable } from './docs-durable-tasks.js';
import { setup as setupOfGuide } from './docs-pool.js';

export async function setup(name) {
  if (name !== 'servetasks') return setupOfGuide('a-first-example-2');
  await setupOfDurable('a-first-example-2');
  return { serveTasks };
}

export const checks = {
  servetasks: ({ worker }) => assert.equal(worker.stats().link.state, 'up'),
};
