import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { serveTasks } from 'millrace/pool';
import * as names from '../lib/names.js';
import { snippetsOf } from '../lib/snippets.js';

export async function setup(name) {
  const server = await names.broker({ jetstream: true });
  const { code } = snippetsOf('docs/durable-tasks.md').find(
    (each) => each.name === 'a-first-example',
  );
  await writeFile('tasks.js', code);
  const options = { broker: server.url, stream: 'thumbnails', filename: 'tasks.js' };
  if (name === 'a-first-example-3') await serveTasks(options);
  return {};
}

export const checks = {
  'a-first-example-2': ({ worker }) => assert.equal(worker.stats().link.state, 'up'),
  'a-first-example-3': ({ pool }) => assert.equal(pool.completed, 1),
  'the-stream': ({ pool }) => assert.equal(pool.stats().durable.stored, 1),
};
