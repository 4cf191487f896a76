// What node:events offers for any emitter: once, on, setMaxListeners, addAbortListener.
import * as events from 'node:events';

export const statics = [
  {
    name: 'events.once resolves to the arguments',
    async run({ e, log, settle }) {
      const waiting = events.once(e, 'x');
      e.emit('x', 1, 'two');
      log(await waiting);
      await settle();
      log(e.eventNames());
    },
  },
  {
    name: 'events.once rejects with an error, and leaves no listener',
    async run({ e, log }) {
      const waiting = events.once(e, 'x');
      e.emit('error', new Error('bad'));
      log(await waiting.catch((error) => error.message));
      log(e.eventNames());
    },
  },
  {
    name: "events.once of 'error' resolves to the error",
    async run({ e, log }) {
      const waiting = events.once(e, 'error');
      e.emit('error', new Error('bad'));
      log((await waiting)[0].message);
    },
  },
  {
    name: 'events.once rejects when its signal aborts, before or while it waits',
    async run({ e, log, settle }) {
      log(
        await events
          .once(e, 'x', { signal: AbortSignal.abort() })
          .catch(({ name, code }) => [name, code]),
      );
      const controller = new AbortController();
      const waiting = events.once(e, 'x', { signal: controller.signal });
      controller.abort();
      e.emit('x', 1);
      log(await waiting.catch(({ name, code }) => [name, code]));
      await settle();
      log(e.eventNames());
    },
  },
  {
    name: 'events.on iterates over what is emitted, in order',
    async run({ e, log }) {
      const iterator = events.on(e, 'x');
      e.emit('x', 1);
      e.emit('x', 2, 'b');
      e.emit('x');
      for await (const args of iterator) {
        log(args);
        if (args.length === 0) break;
      }
      log(e.eventNames());
    },
  },
  {
    name: 'events.on throws what is emitted as an error',
    async run({ e, log }) {
      const iterator = events.on(e, 'x');
      const first = iterator.next();
      e.emit('x', 1);
      log((await first).value);
      e.emit('error', new Error('bad'));
      log(await iterator.next().catch((error) => error.message));
      log((await iterator.next()).done, e.eventNames());
    },
  },
  {
    name: 'events.on ends with its signal',
    async run({ e, log }) {
      const controller = new AbortController();
      const iterator = events.on(e, 'x', { signal: controller.signal });
      const first = iterator.next();
      e.emit('x', 1);
      log((await first).value);
      controller.abort();
      log(await iterator.next().catch(({ name, code }) => [name, code]), e.eventNames());
    },
  },
  {
    name: 'events.on returns early',
    async run({ e, log }) {
      const iterator = events.on(e, 'x');
      log(e.listenerCount('x'), e.listenerCount('error'));
      await iterator.return();
      log(await iterator.next(), e.eventNames());
    },
  },
  {
    name: 'EventEmitter.setMaxListeners sets the limit of given emitters',
    run({ e, log }) {
      events.setMaxListeners(37, e);
      log(e.getMaxListeners());
      if (events.getMaxListeners) log(events.getMaxListeners(e));
    },
  },
  {
    name: 'EventEmitter.defaultMaxListeners is the limit of emitters that have none',
    run({ e, log }) {
      log(e.getMaxListeners() === events.EventEmitter.defaultMaxListeners);
    },
  },
  {
    name: 'addAbortListener lets a signal emit',
    async run({ e, log, settle }) {
      if (!events.addAbortListener) return log('not in this version');
      const controller = new AbortController();
      e.on('x', (type) => log(type));
      events.addAbortListener(controller.signal, ({ type }) => e.emit('x', type));
      controller.abort();
      await settle();
    },
  },
  {
    name: 'the deprecated listenerCount works',
    run({ e, log }) {
      e.on('x', () => {});
      log(events.EventEmitter.listenerCount(e, 'x'));
    },
  },
];
