/** Server of pages of a layout, a menu and an article, read per request. */
import { readFile } from 'node:fs/promises';
import Fastify from 'fastify';

const read = (name) => readFile(new URL(`../pages/${name}.html`, import.meta.url).pathname, 'utf8');
const app = Fastify();

app.get('/health', async () => 'ok\n');
app.get('/pages/:number', async ({ params }, reply) => {
  const [layout, menu, article] = await Promise.all(
    ['layout', 'menu', `article-${Number(params.number)}`].map(read),
  );
  reply.type('text/html');
  return layout.replace('<!-- menu -->', menu).replace('<!-- article -->', article);
});

console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
