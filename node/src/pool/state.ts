/** Whether this thread is a worker of a pool, and the `workerData` of that pool. Set by a worker before anything of the user's is loaded. */
export const state: { isWorkerThread: boolean; workerData: unknown } = {
  isWorkerThread: false,
  workerData: undefined,
};
