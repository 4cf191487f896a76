import { same, takeAll } from './socket-io.js';

/** Four clients: two rooms, one in both, one in none. */
async function setUp(house) {
  const guests = await house.connectAll(['a', 'b', 'c', 'd']);
  const [a, b, c, d] = guests;
  a.server.join('one');
  b.server.join(['one', 'two']);
  c.server.join('two');
  return { io: house.io, guests, a, b, c, d };
}

/** Who gets what is emitted. */
const broadcasts = [
  ['io.emit', 'abcd', ({ io }) => io.emit('m')],
  ['a room', 'ab', ({ io }) => io.to('one').emit('m')],
  ['a room that nobody is in', '', ({ io }) => io.to('none').emit('m')],
  ['two rooms, each client once', 'abc', ({ io }) => io.to('one').to('two').emit('m')],
  ['a list of rooms', 'abc', ({ io }) => io.in(['two', 'one', 'none']).emit('m')],
  ['a room but not another', 'a', ({ io }) => io.to('one').except('two').emit('m')],
  ['all but a room', 'cd', ({ io }) => io.except('one').emit('m')],
  ['all but two rooms', 'd', ({ io }) => io.except(['one', 'two']).emit('m')],
  ['all but a room that is not there', 'abcd', ({ io }) => io.except('none').emit('m')],
  ['one client by its id', 'c', ({ io, c }) => io.to(c.server.id).emit('m')],
  ['others', 'bcd', ({ a }) => a.server.broadcast.emit('m')],
  ['others of a room', 'a', ({ b }) => b.server.to('one').emit('m')],
  ['others of two rooms', 'ac', ({ b }) => b.server.to('one').to('two').emit('m')],
  ['a room, from outside', 'ab', ({ d }) => d.server.to('one').emit('m')],
  ['local', 'abcd', ({ io }) => io.local.emit('m')],
  ['compress', 'ab', ({ io }) => io.compress(true).to('one').emit('m')],
  ['no compression', 'ab', ({ io }) => io.to('one').compress(false).emit('m')],
  ['send', 'abcd', ({ io }) => io.send('m')],
  ['the main namespace', 'ab', ({ io }) => io.of('/').in('one').emit('m')],
  [
    'who has left before',
    'b',
    ({ io, a }) => {
      a.server.leave('one');
      io.to('one').emit('m');
    },
  ],
  [
    'who leaves after',
    'ab',
    ({ io, a }) => {
      io.to('one').emit('m');
      a.server.leave('one');
    },
  ],
  [
    'who joins after',
    'ab',
    ({ io, d }) => {
      io.to('one').emit('m');
      d.server.join('one');
    },
  ],
];

for (const [name, who, emit] of broadcasts) {
  same(`rooms: ${name}`, {
    expected: who,
    async play(house) {
      const scene = await setUp(house);
      emit(scene);
      const received = await takeAll(scene.guests);
      return Object.keys(received)
        .filter((guest) => received[guest].length === 1)
        .join('');
    },
  });
}

same('rooms: the events of the adapter', {
  expected: [
    'create-room x',
    'join-room x a',
    'create-room y',
    'join-room y a',
    'join-room x b',
    'leave-room x a',
    'leave-room y a',
    'delete-room y',
    'join-room x a',
    'leave-room x b',
    'create-room z',
    'join-room z a',
    'leave-room b b',
    'delete-room b',
    'leave-room a a',
    'delete-room a',
    'leave-room x a',
    'delete-room x',
    'leave-room z a',
    'delete-room z',
  ],
  async play(house) {
    const [a, b] = await house.connectAll(['a', 'b']);
    const { io } = house;
    const names = new Map([a, b].map(({ server, name }) => [server.id, name]));
    const events = [];
    const { adapter } = io.of('/');
    for (const event of ['create-room', 'join-room', 'leave-room', 'delete-room']) {
      adapter.on(event, (...args) =>
        events.push([event, ...args.map((arg) => names.get(arg) ?? arg)].join(' ')),
      );
    }
    a.server.join(['x', 'y']);
    a.server.join('x');
    b.server.join('x');
    a.server.leave('x');
    io.to('x').emit('m');
    a.server.leave('y');
    a.server.leave('y');
    io.in(a.server.id).socketsJoin('x');
    io.in('x').except(a.server.id).socketsLeave('x');
    io.in('x').socketsJoin('z');
    b.server.disconnect();
    a.server.disconnect(true);
    return events;
  },
});

same('rooms: whole groups of sockets', {
  expected: {
    all: ['a', 'b', 'c', 'd'],
    'one but not two': ['a'],
    'joined three': ['a', 'b'],
    'rooms of b': ['one', 'three', 'two'],
    'left two': ['b'],
    'sockets()': 2,
    'allSockets()': 4,
    servers: 1,
    'after disconnectSockets()': ['a', 'd'],
    'their connections': [true, true, false, false],
  },
  async play(house) {
    const { io, guests, b, d } = await setUp(house);
    const names = new Map(guests.map(({ server, name }) => [server.id, name]));
    const fetch = async (operator) => {
      const sockets = await operator.fetchSockets();
      return sockets.map(({ id }) => names.get(id)).sort();
    };
    const outcome = {
      all: await fetch(io),
      'one but not two': await fetch(io.in('one').except('two')),
    };
    io.in('one').socketsJoin('three');
    outcome['joined three'] = await fetch(io.in('three'));
    outcome['rooms of b'] = [...io.of('/').adapter.socketRooms(b.server.id)]
      .filter((room) => room !== b.server.id)
      .sort();
    io.in('two').except('one').socketsLeave('two');
    outcome['left two'] = await fetch(io.in('two'));
    outcome['sockets()'] = (await io.of('/').adapter.sockets(new Set(['one']))).size;
    outcome['allSockets()'] = (await io.allSockets()).size;
    outcome.servers = await io.of('/').adapter.serverCount();
    io.in('two').disconnectSockets();
    io.in(guests[2].server.id).disconnectSockets(true);
    outcome['after disconnectSockets()'] = await fetch(io);
    await d.fence();
    outcome['their connections'] = guests
      .map(({ server }) => server.connected)
      .sort()
      .reverse();
    return outcome;
  },
});

same('rooms: serverSideEmit is not supported, and says so', {
  only: ['websocket'],
  expected: ['this adapter does not support the serverSideEmit() functionality'],
  async play({ io }, t) {
    const warn = t.mock.method(console, 'warn', () => {});
    io.serverSideEmit('m');
    return warn.mock.calls.map(({ arguments: [text] }) => text);
  },
});
