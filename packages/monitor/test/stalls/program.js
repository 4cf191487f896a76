/**
 * A program that blocks its event loop in one way until a file appears, with a watch. Prints a line of JSON for where the probes are, one
 * for each stall that is over, and one for how long it has blocked.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { stalls } from '@millrace/monitor/stalls';

const [kind, file, options] = process.argv.slice(2);

const kinds = {
  loop: function blockInLoop() {
    while (!existsSync(file)); // blocks: loop
  },
  expression: function blockInExpression() {
    while (!existsSync(file)) /^(a+)+$/.test(`${'a'.repeat(20)}b`); // blocks: expression
  },
  sort: function blockInSort() {
    const compareSlowly = (a, b) => {
      while (!existsSync(file)); // blocks: sort
      return a - b;
    };
    [3, 2, 1].sort(compareSlowly);
  },
  gzip: function blockInGzip() {
    const data = Buffer.alloc(1 << 20, 'millrace');
    while (!existsSync(file)) gzipSync(data); // blocks: gzip
  },
  wait: function blockInWait() {
    const word = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(file)) Atomics.wait(word, 0, 0, 2000); // blocks: wait
  },
  child: function blockInChild() {
    execFileSync('sh', ['-c', 'until [ -e "$0" ]; do sleep 0.1; done', file]); // blocks: child
  },
  fifo: function blockInFifo() {
    readFileSync(file); // blocks: fifo
  },
  jobs: async function blockInJobs() {
    while (!existsSync(file)) await null; // blocks: jobs
  },
  exit: function blockAtExitOnly() {
    process.on('exit', function blockAtExit() {
      while (!existsSync(file)); // blocks: exit
    });
    process.exit(7);
  },
  ticks: function blockInTicks() {
    return new Promise((resolve) => {
      const blockInTick = () => {
        const isReleased = existsSync(file); // blocks: ticks
        if (isReleased) resolve();
        else process.nextTick(blockInTick); // blocks: ticks
      };
      blockInTick();
    });
  },
};

const print = (value) => console.log(JSON.stringify(value));
const watch = stalls({ probes: { port: 0 }, ...JSON.parse(options ?? '{}') });
const awake = setInterval(() => {}, 60_000);

watch.on('stall', (stall) => print({ stall }));
watch.once('probes', async (probes) => {
  print({ probes });
  const before = performance.now();
  const over = new Promise((resolve) => watch.on('stall', resolve));
  await kinds[kind]();
  await over;
  print({ blocked: performance.now() - before });
  clearInterval(awake);
});
