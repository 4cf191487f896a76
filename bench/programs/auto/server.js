/** `hello world` by node:http: says its port, and answers questions about itself. */
import { createServer } from 'node:http';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

let collections = 0;
const observer = new PerformanceObserver((list) => {
  collections += list.getEntries().length;
});

const used = () => getHeapStatistics().used_heap_size;

const questions = {
  stats: () => ({ rss_mb: process.memoryUsage.rss() / 1e6 }),
  /** Empties the heap; from now on collections are counted. Needs --expose-gc. */
  collect() {
    globalThis.gc();
    observer.observe({ entryTypes: ['gc'] });
    collections = 0;
    return { used: used() };
  },
  heap: () => ({ used: used(), collections }),
};

process.on('message', (question) => process.send(questions[question]()));
process.once('disconnect', () => process.exit());
const server = createServer((_, res) => res.end('hello world'));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
