// Registering and removing listeners, as the documentation of node:events describes it.
import { getEventListeners } from 'node:events';

const symbol = Symbol('event');

export const registration = [
  {
    name: 'on, addListener, once, prependListener, off, removeListener return the emitter',
    run({ e, log }) {
      const f = () => {};
      log(
        ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener'].map(
          (method) => e[method]('x', f) === e,
        ),
      );
      log(e.off('x', f) === e, e.removeListener('x', f) === e, e.removeAllListeners() === e);
      log(e.setMaxListeners(3) === e);
    },
  },
  {
    name: 'listeners run in the order in which they were registered',
    async run({ e, log, settle }) {
      e.on('x', () => log(1));
      e.addListener('x', () => log(2));
      e.on('x', () => log(3));
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'a listener registered twice runs twice',
    async run({ e, log, settle }) {
      const f = () => log('f');
      e.on('x', f).on('x', f);
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'off removes one registration, the last one',
    async run({ e, log, settle }) {
      const f = () => log('f');
      e.on('x', f).on('x', () => log('g'));
      e.on('x', f);
      e.off('x', f);
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'off of what is not registered does nothing',
    run({ e, log }) {
      e.on('x', () => {});
      e.off('x', () => {});
      e.off('y', () => {});
      log(e.listenerCount('x'));
    },
  },
  {
    name: 'prepended listeners come first, the last of them at the very front',
    async run({ e, log, settle }) {
      e.on('x', () => log('on'));
      e.prependListener('x', () => log('prepended'));
      e.prependOnceListener('x', () => log('prepended once'));
      e.emit('x');
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'once listeners run once, and are gone when they run',
    async run({ e, log, settle }) {
      e.once('x', (n) => log(n, e.listenerCount('x')));
      e.emit('x', 1);
      e.emit('x', 2);
      await settle();
      log(e.listenerCount('x'));
    },
  },
  {
    name: 'off removes a once listener by the function that was given',
    async run({ e, log, settle }) {
      const f = () => log('f');
      e.once('x', f);
      e.off('x', f);
      e.emit('x');
      await settle();
      log(e.listenerCount('x'));
    },
  },
  {
    name: 'listeners unwraps once listeners, rawListeners does not; both are copies',
    async run({ e, log, settle }) {
      const f = () => log('f');
      const g = () => log('g');
      e.on('x', f).once('x', g);
      log(e.listeners('x')[0] === f, e.listeners('x')[1] === g);
      log(e.rawListeners('x')[0] === f, e.rawListeners('x')[1] === g);
      log(e.rawListeners('x')[1].listener === g);
      e.listeners('x').length = 0;
      e.rawListeners('x').length = 0;
      log(e.listenerCount('x'));
      e.rawListeners('x')[1]();
      log(e.listenerCount('x'), e.listeners('y'), e.rawListeners('y'));
    },
  },
  {
    name: 'listenerCount counts all listeners of a name, or one of them',
    run({ e, log }) {
      const f = () => {};
      const g = () => {};
      e.on('x', f).on('x', f).once('x', g);
      log(e.listenerCount('x'), e.listenerCount('x', f), e.listenerCount('x', g));
      log(
        e.listenerCount('x', () => {}),
        e.listenerCount('y'),
        e.listenerCount('y', f),
      );
    },
  },
  {
    name: 'eventNames lists names and symbols that have listeners',
    run({ e, log }) {
      const f = () => {};
      log(e.eventNames());
      e.on('b', f).on('a', f).on(symbol, f).on('c', f);
      e.off('c', f);
      log(
        e.eventNames().length,
        e.eventNames()[0],
        e.eventNames()[1],
        e.eventNames()[2] === symbol,
      );
    },
  },
  {
    name: 'symbols and numbers name events',
    async run({ e, log, settle }) {
      e.on(symbol, (n) => log('symbol', n));
      e.on('7', (n) => log('number', n));
      e.emit(symbol, 1);
      e.emit(7, 2);
      e.emit(Symbol('event'), 3);
      await settle();
    },
  },
  {
    name: 'names of Object.prototype are names like others',
    async run({ e, log, settle }) {
      log(e.listenerCount('toString'), e.listenerCount('__proto__'));
      e.on('toString', (n) => log('toString', n));
      e.on('__proto__', (n) => log('__proto__', n));
      e.emit('toString', 1);
      e.emit('__proto__', 2);
      e.emit('constructor', 3);
      await settle();
    },
  },
  {
    name: 'removeAllListeners of one name, and of all',
    run({ e, log }) {
      const f = () => {};
      e.on('x', f).on('x', f).on('y', f).on('z', f);
      e.removeAllListeners('x');
      log(e.eventNames());
      e.removeAllListeners();
      log(e.eventNames());
    },
  },
  {
    name: 'newListener is emitted before the listener is added, with the function that was given',
    run({ e, log }) {
      const f = () => {};
      e.on('newListener', (name, listener) => log(name, listener === f, e.listenerCount('x')));
      e.on('x', f);
      e.once('x', f);
      e.prependListener('x', f);
    },
  },
  {
    name: 'a listener that newListener adds comes before the one that is being added',
    async run({ e, log, settle }) {
      e.once('newListener', (name) => name === 'x' && e.on('x', () => log('from newListener')));
      e.on('x', () => log('own'));
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'removeListener is emitted after the listener was removed',
    async run({ e, log, settle }) {
      const f = () => log('f');
      e.on('removeListener', (name, listener) => log(name, listener === f, e.listenerCount('x')));
      e.on('x', f).once('x', f);
      e.emit('x');
      await settle();
      e.off('x', f);
    },
  },
  {
    name: 'removeAllListeners emits removeListener for each, last in first out, itself last',
    run({ e, log }) {
      const [a, b] = [() => {}, () => {}];
      e.on('x', a).on('x', b).on('y', a);
      e.on('removeListener', (name, listener) => log(name, listener === a, listener === b));
      e.removeAllListeners();
      log(e.eventNames());
    },
  },
  {
    name: 'more than setMaxListeners listeners give one warning a name',
    async run({ e, log, settle }) {
      const seen = (w) => w.emitter === e && log(w.name, w.type, w.count, e.getMaxListeners());
      process.on('warning', seen);
      e.setMaxListeners(1);
      for (let i = 0; i < 4; i++) e.on('x', () => {});
      await settle();
      process.off('warning', seen);
      log(e.listenerCount('x'));
    },
  },
  {
    name: 'setMaxListeners(0) allows any number',
    async run({ e, log, settle }) {
      const seen = (w) => w.emitter === e && log('warned');
      process.on('warning', seen);
      e.setMaxListeners(0);
      for (let i = 0; i < 20; i++) e.on('x', () => {});
      await settle();
      process.off('warning', seen);
      log(e.getMaxListeners());
    },
  },
  {
    name: 'a listener that is no function is a TypeError with a code, and nothing is added',
    run({ e, log }) {
      for (const method of ['on', 'addListener', 'once', 'prependListener', 'off']) {
        for (const bad of [undefined, null, 1, 'f', {}]) {
          try {
            e[method]('x', bad);
            log(method, 'accepted');
          } catch (error) {
            log(method, error.name, error.code, error.message);
          }
        }
      }
      log(e.eventNames());
    },
  },
  {
    name: 'a bad setMaxListeners is a RangeError with a code',
    run({ e, log }) {
      for (const bad of [-1, Number.NaN, '1', null]) {
        try {
          e.setMaxListeners(bad);
        } catch (error) {
          log(error.name, error.code);
        }
      }
      log(e.getMaxListeners());
    },
  },
  {
    name: 'getEventListeners lists what is registered',
    run({ e, log }) {
      const f = () => {};
      e.on('x', f).once('x', f);
      log(getEventListeners(e, 'x').length, getEventListeners(e, 'x')[1] === f);
      log(getEventListeners(e, 'y'));
    },
  },
];
