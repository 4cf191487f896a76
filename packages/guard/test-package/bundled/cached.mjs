import { once } from 'node:events';
import { createServer } from 'node:http';
import { loadSettings } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const { code } = await loadSettings('none.json').catch((error) => error);
  let runs = 0;
  const handler = cached((_, res) => res.end(`run ${++runs}`), { ttl: 60 });
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;
  const texts = [];
  for (let i = 0; i < 2; i++) texts.push(await (await fetch(url)).text());
  return { settings: code, texts };
});
