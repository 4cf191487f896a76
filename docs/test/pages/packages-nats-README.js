import assert from 'node:assert/strict';
import { setup as setupOfTasks } from './docs-reference-durable-tasks.js';

/** The first block of JavaScript has rooms, the second a task, for which there is a worker. */
export const setup = (name) =>
  setupOfTasks(name === 'millracenats-3' ? 'a-first-example-3' : 'a-first-example-2');

export const checks = {
  'millracenats-2': async ({ rooms }) => {
    await rooms.ready();
    assert.equal(rooms.stats().across.link.state, 'up');
  },
  'millracenats-3': ({ tasks }) => assert.equal(tasks.stats().completed, 1),
};
