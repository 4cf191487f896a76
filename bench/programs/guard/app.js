/** Application, the same in every arm. Its responses contain the result of the work, so that it can be checked. */
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { work } from './work.js';

/**
 * @param {number} perMs steps of work that take a millisecond
 * @param {(app: import('fastify').FastifyInstance) => Promise<object>} protect
 */
export async function application(perMs, protect) {
  const app = Fastify();
  const guard = await protect(app);
  /** Total time of the handlers of /work, by the clock. */
  const handler = { count: 0, ms: 0 };

  app.get('/', async () => 'hello world');
  // @fastify/under-pressure has a way to leave a route alone; the other arms do not read this.
  app.get('/health', { config: { pressureHandler: () => undefined } }, async () => 'ok');
  app.get('/work', async () => {
    const start = performance.now();
    const answer = String(work(25 * perMs));
    handler.count++;
    handler.ms += performance.now() - start;
    return answer;
  });
  app.get('/short', async () => String(work(perMs)));
  app.get('/long', async () => String(work(50 * perMs)));
  app.get('/async', async () => {
    const first = work(5 * perMs);
    await sleep(20);
    return `${first} ${work(20 * perMs)}`;
  });
  return { app, guard, handler };
}
