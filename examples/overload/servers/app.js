import Fastify from 'fastify';
import { KINDS } from '../settings.js';
import { work } from './work.js';

/**
 * The application, the same for every server: a kind of request is a route, and each costs the same. A checkout has to be
 * done; an item and a report may also be answered with a copy, by servers that keep one.
 *
 * @param {object} protection
 * @param {(app: import('fastify').FastifyInstance) => unknown} [protection.install] before the routes
 * @param {(handler: Function, app: import('fastify').FastifyInstance) => object} [protection.copied] the route options
 *   (`handler`, `config`) under which a handler's answer may be a copy
 */
export async function createApp({ install, copied = (handler) => ({ handler }) }, iterations) {
  const app = Fastify();
  await install?.(app);

  for (const { name, method, path, copies } of KINDS) {
    const handler = () => ({ [name]: work(iterations) });
    app.route({ method, url: path, ...(copies ? copied(handler, app) : { handler }) });
  }
  app.get('/health', () => ({ status: 'ok' }));
  return app;
}
