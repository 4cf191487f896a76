/** A service elsewhere, as far as it goes: a process that answers `GET /photos` with a list of 5,000, after a short while. */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const PHOTOS = 5_000;
/** About what a call to another site takes. */
const DELAY_MS = 40;

const photos = Buffer.from(
  JSON.stringify(
    Array.from({ length: PHOTOS }, (_, at) => ({
      albumId: Math.floor(at / 50) + 1,
      id: at + 1,
      title: `Photo ${at + 1}`,
      url: `https://photos.example/600/${at + 1}.jpg`,
      thumbnailUrl: `https://photos.example/150/${at + 1}.jpg`,
    })),
  ),
);

const server = createServer(async (request, response) => {
  const isKnown = request.method === 'GET' && request.url === '/photos';
  await sleep(DELAY_MS);
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
  response.end(isKnown ? photos : '{}');
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

// It ends with whoever has started it.
process.on('disconnect', () => process.exit());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
