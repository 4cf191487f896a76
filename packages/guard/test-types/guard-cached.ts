// cached() as users' compilers see it.
import { createServer } from 'node:http';
import { guard } from '@millrace/guard';
import { type CachedOptions, type CachedStats, cached } from '@millrace/guard/cached';
import connect from 'connect';
import express from 'express';
import Fastify from 'fastify';

const server = createServer(cached((_req, res) => res.end(), { ttl: 5 }));
const g = guard(server);

const options: CachedOptions = {
  ttl: 5,
  stale: 60,
  guard: g,
  key: (req) => (req.url === '/' ? req.headers.host : undefined),
  underPressure: () => false,
  storage: { type: 'memory' },
  statuses: [200, 404],
  methods: ['GET'],
  vary: ['accept-language'],
};

const app = express();
const page = cached((req: express.Request, res: express.Response) => res.send(req.path), options);
app.get('/', page);
app.use(cached(express.static('public'), { ttl: 60 }));
const { hits, stale, bypassed, entries }: CachedStats = page.stats();
const counts: number[] = [hits, stale, bypassed.cookie, entries ?? 0];

connect().use(cached((_req, res, next: () => void) => (res ? next() : undefined), { ttl: 1 }));

const fastify = Fastify();
fastify.get<{ Params: { id: string } }>(
  '/:id',
  cached(async (request, reply) => reply.send(request.params.id), { ttl: 1 }),
);

// @ts-expect-error: ttl is required
cached(() => {}, { stale: 5 });
// @ts-expect-error: not a handler
cached('page', { ttl: 5 });
// @ts-expect-error: no such option
cached(() => {}, { ttl: 5, tll: 5 });
// @ts-expect-error: a client is needed
cached(() => {}, { ttl: 5, storage: { type: 'redis' } });

void counts;
