import { once } from 'node:events';
import http from 'node:http';

/**
 * An HTTP server of a test's own, which ends with it.
 *
 * @param {import('node:test').TestContext} t
 * @param {(request: http.IncomingMessage, response: http.ServerResponse, n: number) => void} answer `n` counts the
 *   requests to each path, from 1
 * @returns {Promise<string>} its URL
 */
export async function serve(t, answer) {
  const counts = {};
  const server = http.createServer((request, response) => {
    counts[request.url] = (counts[request.url] ?? 0) + 1;
    answer(request, response, counts[request.url]);
  });
  // A connection may be idle for as long as a busy machine does not run its client.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/`;
}
