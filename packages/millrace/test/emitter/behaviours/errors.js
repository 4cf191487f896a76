// Errors: the event 'error', listeners that throw, listeners that reject.
import { captureRejectionSymbol, errorMonitor } from 'node:events';

const attempt = (log, fn) => {
  try {
    log('returned', fn());
  } catch (error) {
    log('threw', error?.name, error?.message, error?.code, error);
  }
};

export const errors = [
  {
    name: "emit('error', an Error) without a listener throws it",
    run({ e, log }) {
      const error = new TypeError('bad');
      attempt(log, () => e.emit('error', error));
    },
  },
  {
    name: "emit('error') with something else throws ERR_UNHANDLED_ERROR with it as context",
    run({ e, log }) {
      for (const value of [undefined, null, 42, 'text', { a: 1 }]) {
        try {
          e.emit('error', value);
        } catch (error) {
          log(error.name, error.code, error.message, error.context === value);
        }
      }
      attempt(log, () => e.emit('error'));
    },
  },
  {
    name: "'error' listeners get the error inside emit",
    run({ e, log }) {
      const error = new Error('bad');
      e.on('error', (got, more) => log(got === error, more));
      e.once('error', (got) => log('once', got === error));
      log(e.emit('error', error, 'more'));
      log(e.emit('error', error));
    },
  },
  {
    name: "an 'error' listener that throws throws to the one who emits",
    run({ e, log }) {
      e.on('error', (error) => {
        throw new RangeError(`after ${error.message}`);
      });
      e.on('error', () => log('skipped'));
      attempt(log, () => e.emit('error', new Error('first')));
    },
  },
  {
    name: 'errorMonitor sees an error before its listeners, inside emit',
    run({ e, log }) {
      e.on('error', (error) => log('listener', error.message));
      e.on(errorMonitor, (error) => log('monitor', error.message));
      e.emit('error', new Error('bad'));
    },
  },
  {
    name: 'errorMonitor sees an error that nobody handles, and does not handle it',
    run({ e, log }) {
      e.on(errorMonitor, (error) => log('monitor', error.message));
      attempt(log, () => e.emit('error', new Error('bad')));
    },
  },
  {
    name: 'a listener that throws ends its event and throws to the one who emits',
    async run({ e, log, settle }) {
      e.on('x', () => log('first'));
      e.on('x', () => {
        throw new Error('second');
      });
      e.on('x', () => log('third'));
      e.on('error', (error) => log('error', error.message));
      try {
        e.emit('x');
        log('returned');
      } catch (error) {
        log('caught', error.message);
      }
      await settle();
    },
    adaptive: {
      why: "the failure of a listener is an 'error' event, or an uncaught exception without a listener for it",
      log: [['returned'], ['first'], ['error', 'second']],
    },
  },
  {
    name: 'a once listener that throws is used up',
    async run({ e, log, settle }) {
      e.once('x', () => {
        throw new Error('once');
      });
      e.on('error', () => {});
      try {
        e.emit('x');
      } catch {}
      await settle();
      log(e.listenerCount('x'));
    },
  },
  {
    name: "a listener's promise is not awaited",
    async run({ e, log, settle }) {
      e.on('x', async () => {
        log('start');
        await null;
        log('end');
      });
      e.on('x', () => log('next'));
      e.emit('x');
      await settle();
    },
  },
  {
    name: "with captureRejections a rejection is an 'error' event",
    options: { captureRejections: true },
    async run({ e, log, settle }) {
      const error = new Error('rejected');
      e.on('error', (got) => log(got === error));
      e.on('x', async () => {
        throw error;
      });
      e.once('x', async () => {
        throw error;
      });
      e.emit('x', 1);
      await settle();
    },
  },
  {
    name: "with captureRejections Symbol.for('nodejs.rejection') gets error, name and arguments",
    options: { captureRejections: true },
    async run({ e, log, settle }) {
      e[captureRejectionSymbol] = function (error, ...rest) {
        log(this === e, error.message, ...rest);
      };
      e.on('error', () => log('not reached'));
      e.on('x', async () => {
        throw new Error('rejected');
      });
      e.emit('x', 1, 'two');
      await settle();
      log(Symbol.for('nodejs.rejection') === captureRejectionSymbol);
    },
  },
  {
    name: "with captureRejections a rejecting 'error' listener is not captured again",
    options: { captureRejections: true },
    async run({ e, log, settle }) {
      let count = 0;
      e.on('error', (error) => log(++count, error.message));
      e.on('x', () => Promise.reject(new Error('rejected')));
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'without captureRejections a rejection is the process’s',
    async run({ e, log, settle }) {
      const before = process.listeners('unhandledRejection');
      process.removeAllListeners('unhandledRejection');
      const take = (error) => log('unhandledRejection', error.message);
      process.on('unhandledRejection', take);
      e.on('error', () => log('not reached'));
      e.on('x', () => Promise.reject(new Error('rejected')));
      e.emit('x');
      await settle();
      process.off('unhandledRejection', take);
      for (const listener of before) process.on('unhandledRejection', listener);
    },
  },
  {
    name: 'a thenable is handled as a promise is',
    options: { captureRejections: true },
    async run({ e, log, settle }) {
      e.on('error', (error) => log(error.message));
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
      e.on('x', () => ({ then: (_ok, failed) => failed(new Error('thenable')) }));
      e.emit('x');
      await settle();
    },
  },
];
