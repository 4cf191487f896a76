import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { coalesce, enlarge } from 'millrace/net';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect(server.address().port, '127.0.0.1');
  const [far] = await once(server, 'connection');
  enlarge(far);
  const coalescer = coalesce(near);
  let text = '';
  far.on('data', (chunk) => {
    text += chunk;
  });
  for (let digit = 0; digit < 5; digit++) near.write(`${digit}`);
  near.end();
  await once(far, 'end');
  return { text, writes: coalescer.stats().writes };
});
