/** An application of Fastify with the plugin in it, and what its tests wait with. */

import plugin from '@millrace/guard';
import Fastify from 'fastify';
import { patience } from '../patience.js';

/** Closed at the end of the test; `routes` are added after the plugin. */
export async function appWith(t, options, routes = (app) => app.get('/', () => 'answered')) {
  const app = Fastify(patience);
  t.after(() => app.close());
  await app.register(plugin, options);
  await routes(app);
  await app.ready();
  return app;
}

/** Waits as long as it takes; the time limit of the suite ends what never comes. */
export async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}

export function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** A promise, and what settles it. */
export function deferred() {
  let resolve;
  let reject;
  const promise = new Promise((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}
