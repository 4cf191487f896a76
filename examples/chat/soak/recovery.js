/** Recovery: the service is whole again when all of its processes are there, and a message sent at one of them arrives at each. */
import { once, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ownerOf } from './proc.js';

export const WHOLE_ROOM = 'whole';
const AGAIN_MS = 100;
const ROUND_MS = 15_000;
const DEADLINE_MS = 120_000;
/** Which process a connection comes to is not for the client to say. */
const CONNECTIONS = 8;

/** @returns {Promise<number>} ms that it took; rejects after two minutes */
export async function untilWhole(service) {
  const from = performance.now();
  for (let failed = ''; ; ) {
    try {
      await round(service);
      return performance.now() - from;
    } catch (error) {
      failed = error.message;
    }
    if (performance.now() - from > DEADLINE_MS) {
      throw new Error(`the service is not whole after ${DEADLINE_MS / 1000} s: ${failed}`);
    }
    await sleep(AGAIN_MS);
  }
}

async function round(service) {
  const { wanted, ready, pids } = await service.processes();
  if (ready < wanted) throw new Error(`${ready} of ${wanted} processes are ready`);
  const signal = AbortSignal.timeout(ROUND_MS);
  setMaxListeners(0, signal);
  const byOwner = new Map();
  const all = [];
  try {
    while (byOwner.size < wanted) {
      if (all.length > CONNECTIONS * wanted) throw new Error('a process gets no connections');
      const ws = new WebSocket(`${service.url.replace('http', 'ws')}/ws`);
      all.push(ws);
      // An error is seen by who waits, if anybody does.
      ws.on('error', () => {});
      // The first frame comes from the process that has the connection for good.
      await once(ws, 'message', { signal });
      const owner = ownerOf(ws._socket.localPort, pids);
      if (owner === undefined) throw new Error('a connection belongs to nobody');
      if (byOwner.has(owner)) ws.close();
      else byOwner.set(owner, ws);
    }
    await hearEachOther([...byOwner.values()], service.ledger, signal);
  } finally {
    for (const ws of all) ws.terminate();
  }
}

/** Has each say its number until everybody has heard all numbers. */
async function hearEachOther(sockets, ledger, signal) {
  const heard = sockets.map(() => new Set());
  for (const [i, ws] of sockets.entries()) {
    ws.on('message', (data) => {
      const frame = JSON.parse(data);
      if (frame.t === 'msg') heard[i].add(frame.text);
      if (frame.t === 'ack') ledger.saved(frame.id, frame.ref);
    });
    ws.send(JSON.stringify({ t: 'join', room: WHOLE_ROOM }));
  }
  const key = Math.random().toString(36).slice(2);
  const texts = sockets.map((_, i) => `${key}-${i}`);
  while (!heard.every((set) => texts.every((text) => set.has(text)))) {
    for (const [i, ws] of sockets.entries()) {
      ws.send(
        JSON.stringify({ t: 'msg', room: WHOLE_ROOM, text: texts[i], ref: texts[i] }),
        () => {},
      );
    }
    await sleep(AGAIN_MS, undefined, { signal });
  }
}
