// Ends in the way of its argument, under observation.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { Worker } from 'node:worker_threads';

const require = createRequire(import.meta.url);
const ready = () => console.log('ready');

/** Ends by signals as packages do that run something at the end. */
function handled(onExit) {
  setInterval(() => {}, 1000);
  onExit((code, signal) => console.log(`exit ${code} ${signal}`));
  setTimeout(ready, 10);
}

function killed(...signal) {
  process.kill(process.pid, ...signal);
  console.log('is still there');
}

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
  'an exit in a handler': () => {
    setInterval(() => {}, 1000);
    process.on('SIGTERM', () => process.exit(4));
    setTimeout(ready, 10);
  },
  'signal-exit 3': () => handled(require('signal-exit-3')),
  'signal-exit 4': () => handled(require('signal-exit-4').onExit),
  'process.kill()': () => killed(),
  'process.kill() with a name': () => killed('SIGHUP'),
  'process.kill() with a number': () => killed(constants.signals.SIGTERM),
  'process.kill() with SIGUSR2': () => killed('SIGUSR2'),
  'process.kill() with SIGKILL': () => killed('SIGKILL'),
  'process.kill() with a signal that it listens to': () => {
    process.on('SIGTERM', () => console.log('got SIGTERM'));
    process.kill(process.pid);
    // The signal comes in one of the next turns.
    setTimeout(() => {}, 100);
  },
  'process.kill() with signals that end nothing': () => {
    for (const signal of [0, 'SIGWINCH', 'SIGCONT']) process.kill(process.pid, signal);
    assert.throws(() => process.kill(process.pid, 'SIGNOTHING'), { code: 'ERR_UNKNOWN_SIGNAL' });
    assert.throws(() => process.kill('x'), { code: 'ERR_INVALID_ARG_TYPE' });
  },
  'process.kill() of another': async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    process.kill(child.pid);
    const [, signal] = await once(child, 'exit');
    console.log(signal);
  },
  'process.abort()': () => process.abort(),
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
