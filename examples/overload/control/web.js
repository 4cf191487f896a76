import Fastify from 'fastify';
import { NAMES, SERVERS } from '../servers/index.js';
import { GOOD_MS, HANDLER_MS, KINDS, MAX_LOAD } from '../settings.js';
import { Events, settings } from './events.js';
import { servePage } from './page.js';

const body = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    load: { type: 'number', minimum: 0, maximum: MAX_LOAD },
    target: { enum: ['turns', ...NAMES] },
  },
};

/** The page and its API. */
export async function createWeb({ show, capacity, turn }) {
  const app = Fastify({
    forceCloseConnections: true,
    // A wrong value is refused, not bent.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  });
  // A form of another site can send text/plain, but not JSON.
  app.removeContentTypeParser('text/plain');
  const events = new Events(show);
  app.addHook('preClose', () => events.close());

  await app.register(servePage);

  /** Constants while it runs. */
  app.get('/api/about', () => ({
    capacity,
    turnSeconds: turn,
    handlerMs: HANDLER_MS,
    goodMs: GOOD_MS,
    maxLoad: MAX_LOAD,
    kinds: KINDS.map((kind) => ({ name: kind.name, class: kind.class, share: kind.share })),
    servers: SERVERS,
  }));
  app.get('/api/settings', () => settings(show));
  app.put('/api/settings', { schema: { body } }, (request) => {
    show.set(request.body);
    return settings(show);
  });
  app.get('/api/events', (request, reply) => {
    reply.hijack();
    events.open(reply.raw);
  });
  return app;
}
