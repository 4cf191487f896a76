/**
 * Subjects: pools of worker threads, each on the best of its documented settings, that start their workers at once and
 * keep them. Each is a function of how many workers and the name of the task that is its usual one, and gives `call(name)`,
 * a function that runs the task `name`, and `give(name)`, one that transfers the bytes it gets.
 */
import { fileURLToPath } from 'node:url';

const file = (name) => fileURLToPath(new URL(`./workers/${name}.js`, import.meta.url));

export const subjects = {
  async millrace(workers, usual) {
    const { Pool } = await import('@millrace/pool');
    return likePiscina(Pool, 'millrace', workers, usual, { recordTiming: false });
  },
  async piscina(workers, usual) {
    const { Piscina, FixedQueue } = await import('piscina');
    return likePiscina(Piscina, 'piscina', workers, usual, {
      recordTiming: false,
      taskQueue: new FixedQueue(),
    });
  },
  /** piscina with more than one task at a time on a worker, which its documentation advises for tasks that wait. */
  async 'piscina concurrent'(workers, usual) {
    const { Piscina, FixedQueue } = await import('piscina');
    return likePiscina(Piscina, 'piscina', workers, usual, {
      recordTiming: false,
      taskQueue: new FixedQueue(),
      concurrentTasksPerWorker: 16,
    });
  },
  async tinypool(workers, usual) {
    const { Tinypool } = await import('tinypool');
    return likePiscina(Tinypool, 'tinypool', workers, usual, {});
  },
  async workerpool(workers) {
    const { default: workerpool } = await import('workerpool');
    const pool = workerpool.pool(file('workerpool'), {
      minWorkers: workers,
      maxWorkers: workers,
      workerType: 'thread',
    });
    return {
      call: (name) => (task) => pool.exec(name, [task]),
      give: (name) => (bytes) => pool.exec(name, [bytes], { transfer: [bytes.buffer] }),
    };
  },
  async poolifier(workers) {
    const { FixedThreadPool } = await import('poolifier');
    const pool = new FixedThreadPool(workers, file('poolifier'), { enableEvents: false });
    return {
      call: (name) => (task) => pool.execute(task, name),
      give: (name) => (bytes) => pool.execute(bytes, name, undefined, [bytes.buffer]),
    };
  },
};

function likePiscina(Pool, name, workers, usual, options) {
  const pool = new Pool({
    filename: file(name),
    name: usual,
    minThreads: workers,
    maxThreads: workers,
    idleTimeout: Number.POSITIVE_INFINITY,
    ...options,
  });
  return {
    call(task) {
      if (task === usual) return (value) => pool.run(value);
      const how = { name: task };
      return (value) => pool.run(value, how);
    },
    give: (task) => (bytes) => pool.run(bytes, { name: task, transferList: [bytes.buffer] }),
  };
}
