import { once } from 'node:events';
import { createServer } from 'node:http';
import { guard } from '@millrace/guard';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const server = createServer((_, res) => res.end('guarded'));
  const protection = guard(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
  const { admitted } = protection.stats().classes.normal;
  return { text: await answer.text(), admitted };
});
