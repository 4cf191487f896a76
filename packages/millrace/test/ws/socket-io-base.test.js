/** Adapters between servers are derived from what `millrace/ws/socket-io` gives them. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { millraceAdapter } from 'millrace/ws';
import { adapterBase } from 'millrace/ws/socket-io';
import { Server } from 'socket.io';
import { Adapter, SessionAwareAdapter } from 'socket.io-adapter';

describe('adapterBase()', () => {
  test('is the class of what millraceAdapter() makes, one for each server', () => {
    const [one, other] = [new Server(createServer()), new Server(createServer())];
    one.adapter(millraceAdapter());
    const baseOf = adapterBase();
    const Base = baseOf(one.of('/'));
    assert.equal(one.of('/').adapter.constructor, Base);
    assert.equal(baseOf(one.of('/more')), Base);
    assert.notEqual(baseOf(other.of('/')), Base);
    assert.ok(Base.prototype instanceof Adapter);
  });

  test('recovers the state of connections where the server does', () => {
    const io = new Server(createServer(), { connectionStateRecovery: {} });
    assert.ok(adapterBase()(io.of('/')).prototype instanceof SessionAwareAdapter);
  });

  test('lets a derived class see the broadcasts of its server', () => {
    const io = new Server(createServer());
    const seen = [];
    const baseOf = adapterBase();
    io.adapter(function adapter(namespace) {
      const Derived = class extends baseOf(namespace) {
        broadcast(packet, options) {
          seen.push([packet.data, [...options.rooms]]);
          super.broadcast(packet, options);
        }
      };
      return new Derived(namespace);
    });
    io.to('x').emit('m', 1);
    assert.deepEqual(seen, [[['m', 1], ['x']]]);
  });

  test('refuses what is no namespace', () => {
    assert.throws(() => adapterBase()({}), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  });
});
