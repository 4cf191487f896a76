/** The primary of a cluster: `node replacing-primary.js SUBJECT STEPS PORT` says which of its processes listen. */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { replacement } from './work.js';

const [subject, ...args] = process.argv.slice(2);
const exec = fileURLToPath(new URL('./replaced-server.js', import.meta.url));

const { processes } = replacement;

/** Primaries. Each calls `tell(pid)` when a process listens, and returns a function that ends all. */
const primaries = {
  async millrace(tell) {
    const { serve } = await import('@millrace/cluster');
    const made = await serve(exec, {
      workers: processes,
      // Every process that is killed counts as one that was well: it is the first restart that is measured.
      healthyAfter: 0,
      crashLimit: 1000,
      args,
      log: false,
    });
    for (const { pid } of made.stats().processes) tell(pid);
    made.on('ready', ({ pid }) => tell(pid));
    return () => made.close();
  },
  /** The least that there is: no limit, no wait. */
  async 'node:cluster'(tell) {
    cluster.setupPrimary({ exec, args });
    cluster.on('listening', ({ process: { pid } }) => tell(pid));
    cluster.on('exit', () => cluster.fork());
    for (let i = 0; i < processes; i++) cluster.fork();
    return () => process.exit();
  },
};

const stop = await primaries[subject]((pid) => process.send({ pid }));
process.once('disconnect', stop);
