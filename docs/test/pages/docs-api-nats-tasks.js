import assert from 'node:assert/strict';
import { TaskClient, TaskOperator, TaskWorker } from '@millrace/nats/tasks';
import { setup as setupOfGuide } from './docs-reference-durable-tasks.js';

export async function setup(name) {
  await setupOfGuide(name === 'taskworker' ? 'a-first-example-2' : 'a-first-example-3');
  return { TaskClient, TaskOperator, TaskWorker };
}

export const checks = {
  taskclient: ({ client }) => assert.equal(client.stats().completed, 1),
  taskoperator: ({ lag }) => assert.equal(lag.high.pending, 0),
  taskworker: ({ worker }) => assert.equal(worker.stats().link.state, 'up'),
};
