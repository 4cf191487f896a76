/** People who stop reading while somebody says much, until the chat gives them up. */
import { once, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

export const READERS_ROOM = 'readers';

const READERS = 10;
const TEXT = '.'.repeat(3_900);
const BURST = 500;
/** Bursts, more than a socket's buffers and the bound of the chat take together. */
const BURSTS = 8;
const PATIENCE_MS = 90_000;

/** @returns {Promise<{ given: number, up: number }>} how many there were, and how many the chat gave up */
export async function slowReaders({ url, ledger }) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  setMaxListeners(0, signal);
  const open = async () => {
    const ws = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    ws.on('error', () => {});
    await once(ws, 'open', { signal });
    ws.send(JSON.stringify({ t: 'join', room: READERS_ROOM }));
    await joined(ws, signal);
    return ws;
  };
  const all = await Promise.all(Array.from({ length: READERS + 1 }, open));
  const [talker, ...readers] = all;
  try {
    let acks = 0;
    talker.on('message', (data) => {
      const frame = JSON.parse(data);
      if (frame.t !== 'ack') return;
      ledger.saved(frame.id, TEXT);
      acks += 1;
    });
    for (const reader of readers) reader.pause();
    for (let burst = 1; burst <= BURSTS; burst++) {
      for (let i = 0; i < BURST; i++) {
        talker.send(JSON.stringify({ t: 'msg', room: READERS_ROOM, text: TEXT, ref: 'x' }));
      }
      while (acks < burst * BURST && talker.readyState === WebSocket.OPEN) {
        await sleep(20, undefined, { signal });
      }
    }
    // Who was given up finds the end of the connection behind what is still there to read.
    const closed = readers.map((reader) => once(reader, 'close', { signal }).then(() => true));
    for (const reader of readers) reader.resume();
    const ends = await Promise.all(
      closed.map((end) =>
        Promise.race([end, sleep(5_000, false, { ref: false })]).catch(() => false),
      ),
    );
    return { given: READERS, up: ends.filter(Boolean).length };
  } finally {
    for (const ws of all) ws.terminate();
  }
}

/** Several frames may come at once. */
function joined(ws, signal) {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    ws.on('message', function listen(data) {
      if (JSON.parse(data).t !== 'joined') return;
      ws.off('message', listen);
      resolve();
    });
  });
}
