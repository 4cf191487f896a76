// Errors that are caught at the last moment, and what goes on after them. One at a time: what is queued behind an error
// that nobody caught, Node.js puts off to a later turn.
const log = (text) => console.log(text);
process.on('uncaughtException', (error, origin) => log(`caught ${error.message} ${origin}`));
process.on('unhandledRejection', (reason, promise) => {
  log(`rejected ${reason.message} ${promise instanceof Promise}`);
  process.nextTick(log, 'tick of the handler');
});
process.once('exit', (status) => log(`exit ${status}`));
const steps = [
  () => {
    throw new Error('timeout');
  },
  () =>
    process.nextTick(() => {
      throw new Error('tick');
    }),
  () =>
    queueMicrotask(() => {
      throw new Error('microtask');
    }),
  () =>
    setImmediate(() => {
      throw new Error('immediate');
    }),
  () => Promise.reject(new Error('promise')),
  () => {
    Promise.reject(new Error('caught in time')).catch((error) => log(error.message));
  },
  () => {
    const late = Promise.reject(new Error('caught by a microtask'));
    queueMicrotask(() => late.catch((error) => log(error.message)));
  },
  () => {
    const late = Promise.reject(new Error('caught by a tick of a microtask'));
    queueMicrotask(() => process.nextTick(() => late.catch((error) => log(error.message))));
  },
  async () => {
    await null;
    throw new Error('async');
  },
  () => Promise.all([Promise.reject(new Error('all')), Promise.resolve()]),
  () =>
    new Promise((resolve, reject) => {
      setTimeout(reject, 1, new Error('late'));
    }),
  () => {
    try {
      throw new TypeError('sync');
    } catch (error) {
      log(String(error));
    } finally {
      log('finally');
    }
  },
  () => {
    const timer = setInterval(() => {
      clearInterval(timer);
      throw new Error('interval');
    }, 1);
  },
];
(function next() {
  const step = steps.shift();
  if (step === undefined) return;
  setTimeout(() => {
    setTimeout(next, 50);
    step();
  }, 1);
})();
