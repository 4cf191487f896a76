import express from 'express';
import { monitor as watch } from 'millrace/monitor';
import { Folder, Sample } from './files/folder.js';
import { Admission } from './http/admission.js';
import { answerErrors, HttpError } from './http/errors.js';
import { oneByOne } from './http/one-by-one.js';
import { Places } from './http/places.js';
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
import { MOST_BLOCKING, RECORDS_PER_PIECE, SAMPLE_RECORDS } from './settings.js';

/**
 * The compute service: an Express application and what it needs.
 *
 * @param {object} options
 * @param {number} [options.threads] at most; default: the cores that this process may use
 * @param {number} options.queue tasks that may wait
 * @param {string} options.photos address of the photo service
 * @param {string} [options.data] folder with files to process; default: a sample that is made when it is asked for
 * @param {number} [options.sampleRecords] of the sample
 * @param {(line: string) => void} options.log
 */
export async function createService({
  threads,
  queue,
  photos,
  data,
  sampleRecords = SAMPLE_RECORDS,
  log,
}) {
  const pool = createPool({ threads, queue });
  const stopping = new AbortController();
  const service = {
    pool,
    photos,
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
  app.use((request, response, next) => {
    // Any page could have a browser ask for work that takes minutes.
    if (request.headers['sec-fetch-site'] === 'cross-site') {
      throw new HttpError('bad_origin', 'Pages of other sites may not ask.');
    }
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

  return {
    app,
    events,
    ...service,
    /** Ends what is under way, and leaves nothing behind. */
    async close() {
      stopping.abort();
      events.close();
      service.monitor.stop();
      await pool.destroy();
      await service.folder.close();
    },
  };
}
