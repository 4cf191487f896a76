/** The servers of source2.js: `node source2-server.js NAME` says its port. */
import { setTimeout as sleep } from 'node:timers/promises';
import underPressure from '@fastify/under-pressure';
import { guard } from '@millrace/guard';
import Fastify from 'fastify';

const [name] = process.argv.slice(2);
const limits = { maxEventLoopDelay: 200, maxEventLoopUtilization: 0.8 };
/** Time of a database query, ms; the article has one of 0 to 100 in front of the third server. */
const databaseMs = () => (name === 'load-aware' ? Math.random() * 100 : 20);
const app = Fastify();

function count() {
  for (let i = 0; i < 100_000_000; i++);
}

/** Protection in front of each server's handler, and its work. */
const servers = {
  unprotected: async () => count,
  async protected() {
    await app.register(underPressure, limits);
    return count;
  },
  /** Nobody is turned away; under pressure the answer is the one of before. */
  async 'load-aware'() {
    await app.register(underPressure, { ...limits, pressureHandler: () => {} });
    return () => {
      if (!app.isUnderPressure()) count();
    };
  },
  async guarded() {
    guard(app.server);
    return count;
  },
};

const work = await servers[name]();
app.get('/', async () => {
  await sleep(databaseMs());
  work();
  return 'Hello World';
});
process.once('disconnect', () => process.exit());
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
