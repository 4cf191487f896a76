import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import Fastify from 'fastify';

const app = Fastify();
app.register(fastifyStatic, { root: fileURLToPath(new URL('../pages', import.meta.url)) });
app.get('/health', async () => 'ok\n');

console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
