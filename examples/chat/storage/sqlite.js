import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Embedded SQLite in a thread of its own, so that neither a commit's fsync nor a locked database stops the loop.
 * The thread works first in, first out: inserts commit in the order of the calls.
 */
export async function openSqlite(file, limits) {
  const worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), {
    workerData: {
      file,
      timeoutMs: limits.storageTimeoutMs,
      maxBytes: limits.databaseBytes,
    },
  });
  const pending = new Map();
  let lastId = 0;
  let dead = null;

  worker.on('message', ({ id, result, error }) => {
    const call = pending.get(id);
    pending.delete(id);
    if (error) call.reject(revive(error));
    else call.resolve(result);
  });
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('closed')));

  function fail(error) {
    dead = Object.assign(error, { kind: 'outage', reason: 'storage thread ended' });
    for (const call of pending.values()) call.reject(dead);
    pending.clear();
  }

  function call(operation, ...args) {
    if (dead) return Promise.reject(dead);
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      pending.set(id, { resolve, reject });
      worker.postMessage({ id, operation, args });
    });
  }

  try {
    await call('open');
  } catch (error) {
    await worker.terminate();
    throw error;
  }

  return {
    kind: 'sqlite',
    openRoom: (...args) => call('openRoom', ...args),
    hasRoom: (room) => call('hasRoom', room),
    insert: (row) => call('insert', row),
    async insertMany(rows) {
      const results = await call('insertMany', rows);
      return results.map((result) => (typeof result === 'number' ? result : revive(result)));
    },
    history: (...args) => call('history', ...args),
    files: (...args) => call('files', ...args),
    findFile: (...args) => call('findFile', ...args),
    remove: (...args) => call('remove', ...args),
    ping: () => call('ping'),
    async close() {
      if (dead) return;
      await call('close');
      const exited = once(worker, 'exit');
      worker.postMessage({ operation: 'exit' });
      await exited;
    },
  };
}

// Errors lose their own fields on the way between threads, so they travel as plain objects.
function revive({ message, kind, reason }) {
  return Object.assign(new Error(message), { kind, reason });
}
