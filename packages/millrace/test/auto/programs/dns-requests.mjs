/** 30 requests at one time to a server by its name, and how often Node.js looked it up. */
import { createServer, get } from 'node:http';
import { PerformanceObserver } from 'node:perf_hooks';

let lookups = 0;
let from = Number.POSITIVE_INFINITY;
/** The server's own look-up, before it listened, is none of them. */
const count = (entries) => {
  lookups += entries.filter(({ startTime }) => startTime >= from).length;
};
const observer = new PerformanceObserver((list) => count(list.getEntries()));
observer.observe({ entryTypes: ['dns'] });
const server = createServer((request, response) => response.end(request.url));
server.listen(0, 'localhost');
await new Promise((resolve) => server.once('listening', resolve));
from = performance.now();
const { port } = server.address();
const answers = await Promise.all(
  Array.from(
    { length: 30 },
    (_, i) =>
      new Promise((resolve, reject) => {
        get({ host: 'localhost', port, path: `/${i}`, agent: false }, async (response) => {
          let text = '';
          for await (const chunk of response.setEncoding('utf8')) text += chunk;
          resolve(text);
        }).on('error', reject);
      }),
  ),
);
server.close();
count(observer.takeRecords());
console.log(JSON.stringify({ answers, lookups }));
