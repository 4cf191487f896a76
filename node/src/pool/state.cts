/**
 * Whether this thread is a worker of a pool, and the `workerData` of that pool. Set by a worker before anything of the user's is
 * loaded. It belongs to the thread, not to the module: compilers that hook `require()` load a copy of the module of their own.
 */
interface State {
  isWorkerThread: boolean;
  workerData: unknown;
}

const key: unique symbol = Symbol.for('millrace.pool') as never;
const owner = globalThis as { [key]?: State };

owner[key] ??= { isWorkerThread: false, workerData: undefined };
export const state: State = owner[key];
