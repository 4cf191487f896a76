import { speedUp } from '../compute/amdahl.js';
import { cpuStopwatch, stopwatch } from '../compute/stopwatch.js';
import { Query } from '../http/query.js';
import { send } from '../http/send.js';
import { whileWanted } from '../http/wanted.js';
import { divide } from '../pool/divide.js';
import { joinSummaries, NONE, ranges, summarizeRecords, writeRecords } from '../records/batch.js';
import { MOST_RECORDS, RECORDS, RECORDS_PER_PIECE, RECORDS_PER_TASK } from '../settings.js';
import { hex } from '../text/crc32.js';

const NDJSON = 'application/x-ndjson';

/** Records that are made up: a summary of them, or, with format=ndjson, all of them as they are made. */
export function recordRoutes(app, { pool, admission, block, idleMs }) {
  app.get('/records-single', async (request, response) => {
    const { count, format } = read(request);
    const signal = whileWanted(response);
    if (format === 'ndjson') {
      await admission.divided(() =>
        send(response, NDJSON, onMainThread(count), { signal, idleMs }),
      );
      return;
    }
    const ms = stopwatch();
    const summary = await block(() => summarizeRecords(0, count), signal);
    response.json({ count, thread: 'main', ...shown(summary), ms: ms() });
  });

  app.get('/records', async (request, response) => {
    const { count, format } = read(request);
    const signal = whileWanted(response);
    await admission.divided(async () => {
      if (format === 'ndjson') {
        const pieces = divide(pool, 'writeRecords', ranges(count, RECORDS_PER_PIECE), { signal });
        return send(response, NDJSON, pieces, { signal, idleMs });
      }
      const { summary, ...times } = await inPool(pool, count, signal);
      const speed = speedUp(times, pool.maxThreads);
      response.json({
        count,
        thread: 'workers',
        ...shown(summary),
        ms: times.ms,
        speedUp: speed,
      });
    });
  });
}

function read(request) {
  const query = new Query(request);
  const count = query.integer('count', { least: 0, most: MOST_RECORDS, otherwise: RECORDS });
  const format = query.oneOf('format', ['summary', 'ndjson'], 'summary');
  query.end();
  return { count, format };
}

function* onMainThread(count) {
  for (const { from, to } of ranges(count, RECORDS_PER_PIECE)) yield writeRecords(from, to);
}

async function inPool(pool, count, signal) {
  const total = stopwatch();
  let summary = NONE;
  let parallelMs = 0;
  let serialMs = 0;
  const parts = divide(pool, 'summarizeRecords', ranges(count, RECORDS_PER_TASK), { signal });
  for await (const { ms, ...part } of parts) {
    const joining = cpuStopwatch();
    summary = joinSummaries(summary, part);
    parallelMs += ms;
    serialMs += joining();
  }
  return { summary, parallelMs, serialMs, ms: total() };
}

const shown = ({ crc32, ...summary }) => ({ ...summary, crc32: hex(crc32) });
