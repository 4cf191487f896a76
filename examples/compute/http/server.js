import { createServer as createHttpServer } from 'node:http';
import { REQUEST_TIMEOUT_MS } from '../settings.js';

/** The server of an application that takes files of gigabytes, also from slow clients. */
export const createServer = (app) =>
  createHttpServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: 60_000 }, app);
