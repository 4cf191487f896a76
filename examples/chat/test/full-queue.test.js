import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../scripts/lib/program-tests.js';
import { Client, request, start } from './support.js';

const COUNT = 60;

/** Sends frames in one piece, so that the server has them in one turn. */
function sendTogether(client, frames) {
  const { _socket: socket } = client.ws;
  socket.cork();
  for (const frame of frames) client.send(frame);
  socket.uncork();
}

for (const policy of ['adaptive', 'fixed']) {
  test(`more frames than the queue holds: messages all arrive, typing is dropped and counted, ${policy}`, async (t) => {
    const { url } = await start(t, { policy, limits: { pendingFrames: 4 } });
    const ada = await Client.connect(t, url, { name: 'Ada' });
    const bob = await Client.connect(t, url, { name: 'Bob' });
    await ada.join('lobby');
    await bob.join('lobby');

    const texts = Array.from({ length: COUNT }, (_, n) => `message ${n}`);
    sendTogether(
      ada,
      texts.map((text) => ({ t: 'msg', room: 'lobby', text, ref: text })),
    );
    for (const text of texts) {
      assert.equal((await bob.next('msg')).text, text);
      assert.equal((await ada.next('ack')).ref, text);
    }

    // HIGH: every new name is answered, and announced to the room.
    sendTogether(
      ada,
      texts.map((_, n) => ({ t: 'nick', name: `Ada ${n}` })),
    );
    for (let n = 0; n < COUNT; n += 1) {
      assert.equal((await ada.next('nick')).name, `Ada ${n}`);
      assert.equal((await bob.next('notice')).name, `Ada ${n}`);
    }

    sendTogether(
      ada,
      texts.map(() => ({ t: 'typing', room: 'lobby', on: true })),
    );
    await ada.settled();
    await bob.settled();
    const dropped = await until(
      async () => (await request(url, '/health')).body.errors.frame_dropped,
    );
    const seen = bob.frames.filter((frame) => frame.t === 'typing').length;
    assert.ok(seen > 0);
    assert.equal(seen + dropped, COUNT);
    const { body } = await request(url, '/stats');
    assert.equal(body.errors.internal, undefined);
  });

  test(`people who leave while the queue is full do not stop the server, ${policy}`, async (t) => {
    const { url } = await start(t, { policy, limits: { pendingFrames: 1 } });
    const rooms = ['a', 'b', 'c', 'd', 'e'];
    const ada = await Client.connect(t, url, { name: 'Ada' });
    const bob = await Client.connect(t, url, { name: 'Bob' });
    for (const room of rooms) {
      await ada.join(room);
      await bob.join(room);
    }
    // Bob leaves five rooms in one turn: five presence frames for a queue of one.
    bob.ws.terminate();
    const { frame_dropped } = await until(async () => {
      const { errors, members } = (await request(url, '/health')).body;
      return members === 1 && errors;
    });
    assert.ok(frame_dropped >= rooms.length - 1);
    ada.say('a', 'still here', 'r1');
    await ada.next('ack');
  });
}
