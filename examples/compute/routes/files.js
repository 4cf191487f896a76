import { speedUp } from '../compute/amdahl.js';
import { hundredths, stopwatch } from '../compute/stopwatch.js';
import { HttpError } from '../http/errors.js';
import { Query } from '../http/query.js';
import { whileWanted } from '../http/wanted.js';
import { divide } from '../pool/divide.js';
import { fileChunks, lineChunks } from '../pool/index.js';
import {
  LEAST_RANGE_BYTES,
  MOST_PIECE_BYTES,
  MOST_UPLOAD_BYTES,
  PIECE_BYTES,
  RANGES_PER_THREAD,
} from '../settings.js';
import { join, NONE } from '../text/count.js';
import { hex } from '../text/crc32.js';

/** Counts of a file that comes as the body of a request, or that is on the disk already. */
export function fileRoutes(app, { pool, admission, folder, idleMs }) {
  app.post('/process-large-file', async (request, response) => {
    new Query(request).end();
    checkBody(request);
    const signal = whileWanted(response);
    await admission.divided(async () => {
      const ms = stopwatch();
      const pieces = lineChunks(bounded(request, idleMs), {
        bytes: PIECE_BYTES,
        maxBytes: MOST_PIECE_BYTES,
      });
      const parts = divide(pool, 'countPiece', dataOf(pieces), {
        signal,
        transfer: (piece) => [piece.buffer],
      });
      const { counts, tasks, busyMs } = await sum(parts);
      response.json({ ...shown(counts), thread: 'workers', tasks, busyMs, ms: ms() });
    });
  });
  app.all('/process-large-file', (request, response) => {
    response.set('allow', 'POST');
    throw new HttpError('method_not_allowed', 'The file is the body of a POST request.');
  });

  app.get('/files', async (request, response) => {
    new Query(request).end();
    response.json({ files: await folder.names() });
  });

  app.get('/process-file', async (request, response) => {
    const query = new Query(request);
    const name = query.text('name');
    query.end();
    const signal = whileWanted(response);
    await admission.divided(async () => {
      const path = await folder.find(name);
      const total = stopwatch();
      const ranges = await fileChunks(path, {
        chunks: pool.maxThreads * RANGES_PER_THREAD,
        minBytes: LEAST_RANGE_BYTES,
      });
      const serialMs = total();
      const items = ranges.map(({ start, end }) => ({ path, start, end }));
      const parts = divide(pool, 'countRange', items, { signal });
      const { counts, tasks, busyMs } = await sum(parts);
      const ms = hundredths(serialMs + total());
      const speed = speedUp({ parallelMs: busyMs, serialMs, ms }, pool.maxThreads);
      response.json({ name, ...shown(counts), thread: 'workers', tasks, ms, speedUp: speed });
    });
  });
}

/** The body is the file, and nothing around it. */
function checkBody({ headers }) {
  const type = headers['content-type'] ?? '';
  const encoding = headers['content-encoding'] ?? 'identity';
  if (/^multipart\//i.test(type) || encoding !== 'identity') {
    throw new HttpError(
      'unsupported_media_type',
      'The body is the file itself, neither a form nor compressed, as curl --data-binary @FILE sends it.',
    );
  }
  if (Number(headers['content-length']) > MOST_UPLOAD_BYTES) refuseSize();
}

/**
 * The bytes of a body, up to what is allowed. What is left of a refused one is not destroyed: the answer goes the same way. A
 * client that is waited for, and sends nothing for `idleMs`, loses its connection.
 */
async function* bounded(request, idleMs) {
  let bytes = 0;
  request.setTimeout(idleMs);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > MOST_UPLOAD_BYTES) refuseSize();
      request.setTimeout(0);
      yield chunk;
      request.setTimeout(idleMs);
    }
  } finally {
    request.setTimeout(0);
  }
}

function refuseSize() {
  throw new HttpError('too_large', `A file has at most ${MOST_UPLOAD_BYTES} bytes.`);
}

/** Joins counts of parts, whatever the places of the cuts. */
async function* dataOf(pieces) {
  for await (const { data } of pieces) yield data;
}

async function sum(parts) {
  let counts = NONE;
  let tasks = 0;
  let busyMs = 0;
  for await (const { ms, ...part } of parts) {
    counts = join(counts, part);
    tasks += 1;
    busyMs += ms;
  }
  return { counts, tasks, busyMs: hundredths(busyMs) };
}

const shown = ({ bytes, lines, words, longestLine, crc32 }) => ({
  bytes,
  lines,
  words,
  longestLine,
  crc32: hex(crc32),
});
