// Ends in the way of its argument, under observation.
import cluster from 'node:cluster';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Worker } from 'node:worker_threads';

const ready = () => console.log('ready');

const ways = {
  'its loop is empty': () => {},
  'process.exit()': () => process.exit(3),
  'without environment and working directory': () => {
    const folder = mkdtempSync(`${tmpdir()}/millrace-observe-`);
    process.chdir(folder);
    rmSync(folder, { recursive: true });
    delete process.env;
  },
  'an uncaught error': () => {
    throw new Error('uncaught');
  },
  'an unhandled rejection': () => void readFile('/none'),
  'a signal': () => {
    setInterval(() => {}, 1000);
    ready();
  },
  'a signal that it listens to': () => {
    const timer = setInterval(() => {}, 1000);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGUSR2']) {
      process.on(signal, () => {
        console.log(`got ${signal}`);
        clearInterval(timer);
      });
    }
    setTimeout(ready, 10);
  },
  'a signal that it has listened to once': () => {
    setInterval(() => {}, 1000);
    process.once('SIGTERM', () => {
      console.log(`got SIGTERM, of ${process.listenerCount('SIGTERM')} left`);
      // As packages do that run something at the end.
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), 10);
    });
    setTimeout(ready, 10);
  },
  reads: () => Promise.all([readFile(import.meta.filename), readFile(import.meta.filename)]),
  'a thread': async () => {
    await ways.reads();
    new Worker(new URL(import.meta.url), { argv: ['reads'] });
    new Worker(new URL(import.meta.url), { argv: ['its loop is empty'] });
  },
  'a cluster': async () => {
    await ways.reads();
    if (cluster.isWorker) cluster.worker.disconnect();
    else console.log(cluster.fork().process.pid);
  },
};

await ways[process.argv[2]]();
