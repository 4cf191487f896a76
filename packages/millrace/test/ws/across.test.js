/** What makes the rooms of several processes one needs nothing but what `millrace/ws` exports. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, turn } from './hall.js';

/** Joins all rooms that are made with it, in one process. */
function joint() {
  const links = new Set();
  return {
    links,
    connect(here) {
      const open = new Set();
      const calls = [];
      const others = () => [...links].filter((each) => each !== link);
      const link = {
        here,
        calls,
        isOpen: (room) => open.has(room),
        ready: async () => {},
        acknowledged: async () => {},
        check() {},
        open: (room) => open.add(room),
        leave: (room) => open.delete(room),
        admit(room, message) {
          calls.push(`admit ${message.payload}`);
          message.route = { room };
        },
        takeBack: ({ payload }) => calls.push(`takeBack ${payload}`),
        send({ payload, binary, priority, route }) {
          calls.push(`send ${payload}`);
          for (const other of others()) {
            if (other.isOpen(route.room)) other.here.receive(route.room, payload, binary, priority);
          }
        },
        close: () => links.delete(link),
        closed: async () => {},
        stats: () => ({ missed: 0, malformed: 0, ignored: 0 }),
      };
      here.presences.log = {
        joined(key, record) {
          for (const { here: other } of others()) {
            const entry = other.presences.decode(here.node, key, 0, record);
            assert.equal(other.presences.add(here.node, entry, 'member'), true);
          }
        },
        left(key) {
          for (const { here: other } of others()) other.presences.remove(here.node, key, 'member');
        },
      };
      links.add(link);
      return link;
    },
  };
}

describe('rooms with a link of their own', () => {
  test('get what members of others publish, and say who is present there', async (t) => {
    const hall = await openHall(t);
    const across = joint();
    const [here, there] = [new Rooms({ across }), new Rooms({ across })];
    const [a, b] = await hall.connectMany(2);
    here.join(a.server, 'x', { id: 'a', data: { on: true } });
    there.join(b.server, 'x');
    here.publish('x', 'hello');
    await turn();
    assert.deepEqual(await a.take(), ['hello']);
    assert.deepEqual(await b.take(), ['hello']);
    const [present] = there.presence('x');
    assert.deepEqual([present.id, present.data], ['a', { on: true }]);
    here.leave(a.server, 'x');
    assert.deepEqual(there.presence('x'), []);
    here.close();
    there.close();
    assert.equal(across.links.size, 0);
  });

  test('take back what their queue has no room for', () => {
    const across = joint();
    const rooms = new Rooms({ across, maxQueue: 1 });
    const [link] = across.links;
    rooms.publish('x', '1');
    assert.throws(() => rooms.publish('x', '2'), { code: 'MILLRACE_E_OVERLOADED' });
    rooms.flush();
    assert.deepEqual(link.calls, ['admit 1', 'admit 2', 'takeBack 2', 'send 1']);
    rooms.close();
  });

  test('refuse a presence that cannot be cloned, of which the link hears nothing', async (t) => {
    const hall = await openHall(t);
    const across = joint();
    const rooms = new Rooms({ across });
    const [link] = across.links;
    link.here.presences.log = { joined: assert.fail, left: assert.fail };
    const { server } = await hall.connect();
    assert.throws(() => rooms.join(server, 'x', { data: () => {} }), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
    });
    assert.equal(rooms.size('x'), 0);
    rooms.close();
  });

  test('read no presence from a record that is not one', () => {
    const across = joint();
    const rooms = new Rooms({ across });
    const [{ here }] = across.links;
    assert.equal(here.presences.decode('n', 1, 0, Buffer.from('nothing')), null);
    rooms.close();
  });
});
