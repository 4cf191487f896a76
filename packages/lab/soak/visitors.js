import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

const MESSAGES = 3;
const PAUSE_MS = 50;
const ANSWER_MS = 30_000;

/** The room of the visitors and of what comes over HTTP. */
export const ROOM = 'soak';

/**
 * People who come, say a few words, and go again until the signal, each at least once: some leave the room first, some close, some vanish.
 * What each of them sees must have growing ids.
 *
 * @param {string} url of the chat
 * @param {object} options
 * @param {number} options.count of people at a time
 * @param {AbortSignal} options.signal
 * @param {(id: number, text: string) => void} options.onSaved called for every message that was acknowledged
 * @returns {Promise<{ visits: number, faults: string[] }>}
 */
export async function visit(url, { count, signal, onSaved }) {
  const faults = [];
  let visits = 0;
  const person = async (index) => {
    const name = `visitor-${index}`;
    do {
      await stay(url, name, LEAVING[visits++ % LEAVING.length], onSaved).catch((error) =>
        faults.push(`${name}: ${error.message}`),
      );
      await sleep(PAUSE_MS);
    } while (!signal.aborted);
  };
  await Promise.all(Array.from({ length: count }, (_, index) => person(index)));
  return { visits, faults };
}

const LEAVING = [
  (ws) => {
    ws.send(JSON.stringify({ t: 'leave', room: ROOM }));
    ws.close();
  },
  (ws) => ws.close(),
  (ws) => ws.terminate(),
];

async function stay(url, name, leave, onSaved) {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws?name=${name}`);
  const gone = once(ws, 'close');
  try {
    await within(talk(ws, name, onSaved), `no answer in ${ANSWER_MS / 1000} s`);
    leave(ws);
    await within(gone, `its connection is still open after ${ANSWER_MS / 1000} s`);
  } finally {
    ws.terminate();
  }
}

/** Resolves when all that was said has been acknowledged and has come back, in order. */
function talk(ws, name, onSaved) {
  return new Promise((resolve, reject) => {
    const texts = Array.from({ length: MESSAGES }, (_, n) => `${name} says ${n}`);
    const ids = [];
    const heard = [];
    let newest = 0;
    const send = (frame) => ws.send(JSON.stringify({ room: ROOM, ...frame }));
    ws.once('error', reject);
    ws.once('close', (code) => reject(new Error(`was closed with ${code}`)));
    ws.once('open', () => send({ t: 'join' }));
    ws.on('message', (data) => {
      const frame = JSON.parse(data);
      if (frame.t === 'error') reject(new Error(`was told ${frame.code}: ${frame.message}`));
      if (frame.t === 'joined') {
        send({ t: 'typing', on: true });
        for (const [ref, text] of texts.entries()) send({ t: 'msg', text, ref: `${ref}` });
      }
      if (frame.t === 'ack') {
        ids[frame.ref] = frame.id;
        onSaved(frame.id, texts[frame.ref]);
      }
      if (frame.t === 'msg' || frame.t === 'file') {
        if (frame.id <= newest) reject(new Error(`got message ${frame.id} after ${newest}`));
        newest = frame.id;
        if (frame.from === name) heard.push(frame);
      }
      if (Object.keys(ids).length < MESSAGES || heard.length < MESSAGES) return;
      const same = heard.every(({ id, text }, n) => id === ids[n] && text === texts[n]);
      if (same) resolve();
      else reject(new Error(`its own messages came back as ${JSON.stringify(heard)}`));
    });
  });
}

async function within(work, message) {
  const timer = new AbortController();
  const late = sleep(ANSWER_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(message);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
