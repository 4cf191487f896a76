/** Subjects: queues of durable tasks. A place is the address of their server: a URL, or a port. */
import { fileURLToPath } from 'node:url';
import { TaskClient, TaskWorker } from '@millrace/nats/tasks';
import { Queue, Worker } from 'bullmq';
import { double } from './handler.js';

const name = 'bench';
/** Tasks per call of `addBulk`. */
const chunk = 1000;
/** Tasks that a worker of BullMQ has at a time: of 50, 200 and 1000 what took least CPU. */
const concurrency = 50;

const bullmq = {
  async producer(port) {
    const queue = new Queue(name, {
      connection: { host: '127.0.0.1', port: Number(port) },
      // A task that is done is gone, and one that fails is tried again, as with millrace.
      defaultJobOptions: { removeOnComplete: true, attempts: 5 },
    });
    await queue.waitUntilReady();
    return {
      single: (n) => queue.add('double', n),
      async bulk(list) {
        for (let at = 0; at < list.length; at += chunk) {
          const jobs = list.slice(at, at + chunk).map((data) => ({ name: 'double', data }));
          await queue.addBulk(jobs);
        }
      },
    };
  },
  async worker(port) {
    let done = 0;
    const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
    const worker = new Worker(name, async ({ data }) => double(data), { connection, concurrency });
    worker.on('completed', () => {
      done += 1;
    });
    await worker.waitUntilReady();
    return { done: () => done };
  },
};

export const subjects = {
  millrace: {
    async producer(broker) {
      const client = new TaskClient({ broker, stream: name });
      const enqueue = (n) => client.enqueue(n, { name: 'double' });
      return {
        single: enqueue,
        bulk: (list) => Promise.all(list.map(enqueue)),
        waits: (many, ms) =>
          Promise.all(Array.from({ length: many }, () => client.enqueue(ms, { name: 'wait' }))),
      };
    },
    async worker(broker, options) {
      const filename = fileURLToPath(new URL('./handler.js', import.meta.url));
      const worker = new TaskWorker({ broker, stream: name, filename, ...options });
      await worker.ready();
      return { done: () => worker.stats().done, left: async () => tasksLeft(await worker.lag()) };
    },
  },
  ...{ bullmq, 'bullmq everysec': bullmq },
};

/** Messages with tasks that nobody has, or that a worker has not acknowledged. */
const tasksLeft = ({ dead, ...lanes }) =>
  Object.values(lanes).reduce((sum, lane) => sum + lane.pending + lane.unacknowledged, 0);
