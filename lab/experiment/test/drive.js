/** Drives loads against servers of a test's own. */
import { once } from 'node:events';
import http from 'node:http';
import { loads } from '../loads/index.js';

/** `n` counts the requests to each path. */
export async function serve(t, answer) {
  const counts = {};
  const server = http.createServer((request, response) => {
    counts[request.url] = (counts[request.url] ?? 0) + 1;
    answer(request, response, counts[request.url]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

/** Drives a load once and writes down its marks. */
export async function drive(kind, load, more = {}) {
  const marks = [];
  const outcome = await loads[kind].drive({
    ...{
      load: { kind, ...load },
      params: { quick: true, seed: 1 },
      timeoutS: 30,
      phase: 'measure',
    },
    ...{ cpuUs: () => 0, begin: () => marks.push('begin'), end: () => marks.push('end') },
    ...more,
  });
  return { ...outcome, marks };
}
