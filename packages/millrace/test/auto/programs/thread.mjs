/** Everything happens in a worker thread. */
import { Worker } from 'node:worker_threads';

new Worker(new URL('./module.mjs', import.meta.url));
