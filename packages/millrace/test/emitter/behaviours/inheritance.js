// Classes that extend an emitter. `Emitter` is the class under test, `options` what its constructor gets.

export const inheritance = [
  {
    name: 'a subclass is an emitter',
    async run({ Emitter, options, log, settle }) {
      class Door extends Emitter {
        constructor() {
          super(options);
          this.name = 'front';
          this.on('open', this.opened);
        }
        opened(by) {
          log(this.name, by, this instanceof Door);
        }
      }
      const door = new Door();
      door.emit('open', 'me');
      await settle();
      log(door instanceof Emitter, Object.keys(door).includes('name'));
    },
  },
  {
    name: 'a subclass that overrides emit sees every event once',
    async run({ Emitter, options, log, settle }) {
      class Spy extends Emitter {
        emit(name, ...args) {
          log('emit', name, args.length);
          return super.emit(name, ...args);
        }
      }
      const e = new Spy(options);
      e.on('x', (n) => log('listener', n));
      e.on('newListener', () => {});
      e.on('y', () => {});
      e.emit('x', 1);
      await settle();
    },
  },
  {
    name: 'a subclass may build addListener on on',
    async run({ Emitter, options, log, settle }) {
      class Counting extends Emitter {
        addListener(...args) {
          log('added');
          return this.on(...args);
        }
      }
      const e = new Counting(options);
      e.on('x', () => log('on'));
      e.addListener('x', () => log('addListener'));
      e.once('x', () => log('once'));
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'a subclass may build on on addListener',
    async run({ Emitter, options, log, settle }) {
      class Counting extends Emitter {
        on(...args) {
          log('added');
          return this.addListener(...args);
        }
      }
      const e = new Counting(options);
      e.on('x', () => log('on'));
      e.addListener('x', () => log('addListener'));
      e.once('x', () => log('once'));
      e.prependOnceListener('x', () => log('prepended'));
      e.emit('x');
      await settle();
    },
  },
  {
    name: 'a prototype set up by hand, in the manner of util.inherits',
    async run({ Emitter, options, log, settle }) {
      function Door() {
        return Reflect.construct(Emitter, [options], Door);
      }
      Object.setPrototypeOf(Door.prototype, Emitter.prototype);
      Object.setPrototypeOf(Door, Emitter);
      Door.prototype.open = function () {
        this.emit('open');
      };
      const door = new Door();
      door.on('open', () => log('open', door instanceof Door, door instanceof Emitter));
      door.open();
      await settle();
    },
  },
  {
    name: 'methods are on the prototype, and the emitter can be extended by properties',
    run({ e, log }) {
      e.extra = 1;
      log(Object.hasOwn(e, 'emit'), Object.hasOwn(e, 'on'), e.extra);
    },
  },
];
