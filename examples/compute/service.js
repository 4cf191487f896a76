import { monitor as watch } from '@millrace/monitor';
import express from 'express';
import { Folder, Sample } from './files/folder.js';
import { Admission } from './http/admission.js';
import { answerErrors, HttpError } from './http/errors.js';
import { oneByOne } from './http/one-by-one.js';
import { ownPagesOnly } from './http/origin.js';
import { Places } from './http/places.js';
import { createServer } from './http/server.js';
import { divide } from './pool/divide.js';
import { createPool } from './pool/index.js';
import { ranges } from './records/batch.js';
import { eventRoutes } from './routes/events.js';
import { fibonacciRoutes } from './routes/fibonacci.js';
import { fileRoutes } from './routes/files.js';
import { healthRoutes } from './routes/health.js';
import { pageRoutes } from './routes/page.js';
import { photoRoutes } from './routes/photos.js';
import { recordRoutes } from './routes/records.js';
import { rsaRoutes } from './routes/rsa.js';
import {
  BLOCKING_N,
  IDLE_MS,
  MOST_BLOCKING,
  RECORDS_PER_PIECE,
  SAMPLE_RECORDS,
} from './settings.js';

/**
 * The compute service: an Express application and what it needs.
 *
 * @param {object} options
 * @param {number} [options.threads] at most; default: the cores that this process may use
 * @param {number} options.queue tasks that may wait
 * @param {string} options.photos address of the photo service
 * @param {string} [options.data] folder with files to process; default: a sample that is made when it is asked for
 * @param {number} [options.sampleRecords] of the sample
 * @param {string} [options.host] that it listens on; for an address of this machine only, others are refused by their Host
 * @param {number} [options.blockingN] the greatest n by additions on the main thread
 * @param {number} [options.idleMs] after which a client that is waited for has gone
 * @param {(line: string) => void} options.log
 */
export async function createService({
  threads,
  queue,
  photos,
  data,
  sampleRecords = SAMPLE_RECORDS,
  host,
  blockingN = BLOCKING_N,
  idleMs = IDLE_MS,
  log,
}) {
  const pool = createPool({ threads, queue });
  const stopping = new AbortController();
  const service = {
    pool,
    photos,
    blockingN,
    idleMs,
    admission: new Admission(pool, queue),
    monitor: watch({ tasks: { pool } }),
    block: oneByOne(new Places(MOST_BLOCKING, 'requests that block the main thread')),
  };
  const sample = () =>
    divide(pool, 'writeRecords', ranges(sampleRecords, RECORDS_PER_PIECE), {
      signal: stopping.signal,
    });
  service.folder = data === undefined ? new Sample(sample) : await Folder.open(data);

  const app = express();
  app.disable('x-powered-by');
  app.use(ownPagesOnly(host));
  app.use((_, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    next();
  });
  pageRoutes(app, service);
  const events = eventRoutes(app, service);
  fibonacciRoutes(app, service);
  rsaRoutes(app, service);
  recordRoutes(app, service);
  fileRoutes(app, service);
  photoRoutes(app, service);
  healthRoutes(app, service);
  app.use(() => {
    throw new HttpError('not_found', 'There is nothing here; README.md lists what there is.');
  });
  app.use(answerErrors(log));

  /** Gives up what is under way, and what is still asked for: the answer is 503. */
  async function giveUp() {
    stopping.abort();
    await pool.destroy();
  }

  return {
    server: createServer(app),
    events,
    ...service,
    giveUp,
    /** Closes the service, and leaves nothing behind. */
    async close() {
      events.close();
      service.monitor.stop();
      await giveUp();
      await service.folder.close();
    },
  };
}
