import { runHttp } from '../load/http.js';
import { ROOM } from './visitors.js';

const FROM = 'poster';
const TEXT = 'posted over HTTP';
/** Each of them may be cut off in the middle of an upload at the end. */
export const CONNECTIONS = 2;

const FILE_BYTES = 64 * 1024;

const requests = [
  {
    method: 'POST',
    path: `/api/rooms/${ROOM}/messages`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ from: FROM, text: TEXT }),
  },
  {
    method: 'POST',
    path: `/api/rooms/${ROOM}/files?name=soak.bin&from=${FROM}`,
    headers: { 'content-type': 'application/octet-stream' },
    body: 'x'.repeat(FILE_BYTES),
  },
  { method: 'GET', path: `/api/rooms/${ROOM}/messages?limit=20` },
  { method: 'GET', path: '/health' },
];

/**
 * Posts messages, uploads files and reads the history over HTTP, a few a second.
 *
 * @param {string} url of the chat
 * @param {object} options
 * @param {number} options.seconds
 * @param {(id: number) => void} options.onSaved called for every message and file that was acknowledged
 * @returns {Promise<import('../load/http.js').HttpResult>}
 */
export function post(url, { seconds, onSaved }) {
  return runHttp({
    url,
    seconds,
    warmup: 0,
    connections: CONNECTIONS,
    rate: 8,
    requests,
    expect: {
      body(body) {
        const { id, error } = JSON.parse(body);
        if (id !== undefined) onSaved(id);
        return error === undefined;
      },
    },
  });
}
