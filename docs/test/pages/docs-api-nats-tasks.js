import assert from 'node:assert/strict';
import { TaskClient, TaskWorker } from '@millrace/nats/tasks';
import { setup as setupOfGuide } from './docs-durable-tasks.js';

export async function setup(name) {
  await setupOfGuide(name === 'taskclient' ? 'a-first-example-3' : 'a-first-example-2');
  return { TaskClient, TaskWorker };
}

export const checks = {
  taskclient: ({ client }) => assert.equal(client.stats().completed, 1),
  taskworker: ({ worker }) => assert.equal(worker.stats().link.state, 'up'),
};
