/** A server: `node server.js SUBJECT STEPS_PER_MS` says its port, and answers questions about itself. */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { application } from './app.js';
import { subjects } from './subjects.js';
import { stepsPerMs } from './work.js';

const [subject, perMs] = process.argv.slice(2);
const { app, guard: stats, handler } = await application(Number(perMs), subjects[subject]);

let collections = 0;
const observer = new PerformanceObserver((list) => {
  collections += list.getEntries().length;
});

const questions = {
  stats: () => ({ handler, guard: stats() }),
  calibrate: () => ({ perMs: stepsPerMs() }),
  /** Empties the heap; from now on collections are counted. Needs --expose-gc. */
  collect() {
    globalThis.gc();
    observer.observe({ entryTypes: ['gc'] });
    collections = 0;
    return { used: getHeapStatistics().used_heap_size };
  },
  heap: () => ({ used: getHeapStatistics().used_heap_size, collections }),
};

process.on('message', (question) => process.send(questions[question]()));
process.once('disconnect', () => process.exit());
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
