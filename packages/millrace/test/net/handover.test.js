/** Sockets whose connection somebody else takes over: what is held leaves first. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { coalesce } from 'millrace/net';
import { certificate } from '../ws/certificate.js';
import { openPair, range, turn } from './pair.js';

const receiver = fileURLToPath(new URL('./receiver.js', import.meta.url));

for (const side of ['client', 'server']) {
  for (const keepOpen of [false, true]) {
    test(`a ${side}'s socket is sent to a child${keepOpen ? ', and kept open' : ''}`, async (t) => {
      const { socket, received } = await openPair(t, { side });
      const errors = [];
      socket.on('error', (error) => errors.push(error));
      coalesce(socket);
      const child = fork(receiver);
      t.after(() => child.kill());
      for (const n of range(3)) socket.write(`${n}`);
      child.send(' and the child', socket, { keepOpen });
      await once(child, 'message');
      if (keepOpen) socket.destroy();
      assert.equal(await received.ended, 'end');
      assert.equal(received.text(), '012 and the child');
      await turn();
      assert.deepEqual(errors, []);
    });
  }
}

test('TLS that is put on a socket waits for what is held', async (t) => {
  const { socket, peer } = await openPair(t);
  coalesce(socket);
  const plain = [];
  const secured = new Promise((resolve) => {
    peer.on('data', function onData(chunk) {
      plain.push(...chunk.toString('latin1'));
      if (plain.length < 3) return;
      const rest = Buffer.from(plain.splice(3).join(''), 'latin1');
      peer.off('data', onData);
      peer.pause();
      if (rest.length > 0) peer.unshift(rest);
      resolve(new TLSSocket(peer, { isServer: true, ...certificate() }));
    });
  });
  for (const n of range(3)) socket.write(`${n}`);
  const over = connectTls({ socket, rejectUnauthorized: false });
  over.end('secret');
  const server = await secured;
  let text = '';
  for await (const chunk of server) text += chunk;
  assert.equal(plain.join(''), '012');
  assert.equal(text, 'secret');
});
