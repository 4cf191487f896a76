// What emit does with listeners, as the documentation of node:events describes it.

const nested = {
  why: 'what a listener emits leaves in the next batch, after everything that was emitted before it',
  log: [['outer'], ['second'], ['inner']],
};

export const emitting = [
  {
    name: 'emit runs the listeners before it returns',
    async run({ e, log, settle }) {
      e.on('x', () => log('listener'));
      log('before');
      e.emit('x');
      log('after');
      await settle();
    },
    adaptive: {
      why: 'emit returns before listeners run: they run at the end of the turn',
      log: [['before'], ['after'], ['listener']],
    },
  },
  {
    name: 'emit returns whether there was a listener',
    async run({ e, log, settle }) {
      log(e.emit('x'));
      e.on('x', () => false);
      log(e.emit('x'));
      await settle();
    },
    adaptive: {
      why: 'emit returns true: the event was taken',
      log: [[true], [true]],
    },
  },
  {
    name: 'emit passes no to five arguments',
    async run({ e, log, settle }) {
      e.on('x', (...args) => log(args.length, ...args));
      e.emit('x');
      e.emit('x', 1);
      e.emit('x', 1, 2);
      e.emit('x', 1, 2, 3);
      e.emit('x', 1, 2, 3, 4);
      e.emit('x', 1, 2, 3, 4, 5);
      await settle();
    },
  },
  {
    name: 'undefined, null, arrays and holes arrive as they were given',
    async run({ e, log, settle }) {
      e.on('x', (...args) => log(args));
      e.emit('x', undefined);
      e.emit('x', null, undefined);
      e.emit('x', [1, 2]);
      e.emit('x', [], [[]]);
      await settle();
    },
  },
  {
    name: 'this is the emitter in a function, and not in an arrow',
    async run({ e, log, settle }) {
      e.on('x', function () {
        log(this === e);
      });
      e.once('x', function () {
        log(this === e);
      });
      e.prependListener('x', function () {
        log(this === e);
      });
      const outer = () => log(typeof this);
      e.on('x', outer);
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'a listener added by a listener does not run for the same event',
    async run({ e, log, settle }) {
      e.once('x', () => e.on('x', (n) => log('late', n)));
      e.emit('x', 1);
      await settle();
      e.emit('x', 2);
      await settle();
    },
  },
  {
    name: 'a listener added by a listener runs for the next event',
    async run({ e, log, settle }) {
      e.once('x', () => e.on('x', (n) => log('late', n)));
      e.emit('x', 1);
      e.emit('x', 2);
      await settle();
    },
  },
  {
    name: 'a listener removed by a listener still runs for the same event',
    async run({ e, log, settle }) {
      const second = (n) => log('second', n);
      e.on('x', (n) => {
        log('first', n);
        e.off('x', second);
      });
      e.on('x', second);
      e.emit('x', 1);
      e.emit('x', 2);
      await settle();
    },
  },
  {
    name: 'a listener removed after emit has got the event',
    async run({ e, log, settle }) {
      const f = (n) => log('f', n);
      e.on('x', f);
      e.emit('x', 1);
      e.off('x', f);
      await settle();
      log('end');
    },
    adaptive: {
      why: 'listeners are looked up when the event is delivered',
      log: [['end']],
    },
  },
  {
    name: 'a listener added after emit does not get the event',
    async run({ e, log, settle }) {
      e.emit('x', 1);
      e.on('x', (n) => log('f', n));
      await settle();
      log('end');
    },
    adaptive: {
      why: 'listeners are looked up when the event is delivered',
      log: [['f', 1], ['end']],
    },
  },
  {
    name: 'arguments are passed by reference',
    async run({ e, log, settle }) {
      const value = { n: 1 };
      e.on('x', (v) => log(v === value, v.n));
      e.emit('x', value);
      value.n = 2;
      await settle();
    },
    adaptive: {
      why: 'a value that is changed after emit has changed when it is delivered',
      log: [[true, 2]],
    },
  },
  {
    name: 'a listener that emits is interrupted by that event',
    async run({ e, log, settle }) {
      e.once('x', () => {
        log('outer');
        e.emit('y');
      });
      e.on('x', () => log('second'));
      e.on('y', () => log('inner'));
      e.emit('x');
      await settle();
    },
    adaptive: nested,
  },
  {
    name: 'events of one name keep their order',
    async run({ e, log, settle }) {
      e.on('x', (n) => log(n));
      for (let i = 0; i < 5; i++) e.emit('x', i);
      await settle();
    },
  },
  {
    name: 'events of several names keep their order',
    async run({ e, log, settle }) {
      for (const name of ['data', 'end', 'close']) e.on(name, () => log(name));
      e.emit('data');
      e.emit('close');
      e.emit('end');
      e.emit('data');
      await settle();
    },
  },
  {
    name: 'names mean nothing for the order',
    async run({ e, log, settle }) {
      for (const name of ['work', 'data', 'signal']) e.on(name, () => log(name));
      e.emit('work');
      e.emit('data');
      e.emit('signal');
      await settle();
    },
    adaptive: {
      why: 'signal, process and async are HIGH, idle, work and background LOW, unless configured',
      log: [['signal'], ['data'], ['work']],
    },
  },
  {
    name: 'without listeners nothing happens',
    async run({ e, log, settle }) {
      e.emit('x', 1);
      await settle();
      log(e.eventNames());
    },
  },
  {
    name: 'newListener and removeListener can be emitted by hand, and are synchronous',
    run({ e, log }) {
      e.on('newListener', (name) => log('new', name));
      e.on('removeListener', (name) => log('removed', name));
      log(e.emit('newListener', 'a'), e.emit('removeListener', 'b'));
    },
  },
];
