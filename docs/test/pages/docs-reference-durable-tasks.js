import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { TaskWorker } from '@millrace/nats/tasks';
import * as names from '../lib/names.js';
import { snippetsOf } from '../lib/snippets.js';

export async function setup(name) {
  const server = await names.broker({ jetstream: true });
  const { code } = snippetsOf('docs/reference/durable-tasks.md').find(
    (each) => each.name === 'a-first-example',
  );
  await writeFile('tasks.js', code);
  const options = { broker: server.url, stream: 'thumbnails', filename: 'tasks.js' };
  if (['a-first-example-3', 'lag-and-metrics'].includes(name))
    await new TaskWorker(options).ready();
  return {};
}

export const checks = {
  'lag-and-metrics': ({ lag }) => assert.deepEqual([lag.normal.pending, lag.dead], [0, 0]),
  'a-first-example-2': ({ worker }) => assert.equal(worker.stats().link.state, 'up'),
  'a-first-example-3': ({ client }) => assert.equal(client.stats().completed, 1),
  'the-stream': ({ client }) => assert.equal(client.stats().stored, 1),
};
