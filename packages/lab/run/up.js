/** Finds free ports, and waits until a server is up. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../load/errors.js';

const LOOK_MS = 50;

/** Resolves with the address that a server tells; waits for ever when it does not. */
export function addressIn(server, ready) {
  return new Promise((resolve) => {
    let output = '';
    const forget = server.onLine((line) => {
      output += `${line}\n`;
      const found = ready.exec(output);
      if (!found) return;
      forget();
      resolve(found[1]);
    });
  });
}

/**
 * Resolves when a server is up.
 *
 * @param {string} url
 * @param {string | undefined} health path that has to answer with success; undefined: any answer will do
 * @param {boolean} isAsked whether to ask again and again, as nobody has said that it listens
 * @param {AbortSignal} signal
 */
export async function untilUp(url, health, isAsked, signal) {
  const isSocket = /^wss?:/.test(url);
  for (;;) {
    try {
      if (isSocket && health === undefined) await accepts(url);
      else await answers(url.replace(/^ws/, 'http'), health, signal);
      return;
    } catch (error) {
      if (!isAsked) throw error;
    }
    await sleep(LOOK_MS, undefined, { signal });
  }
}

async function answers(url, health, signal) {
  const asked = health === undefined ? url : new URL(health, url);
  const answer = await fetch(asked, { headers: { connection: 'close' }, signal });
  await answer.body?.cancel();
  if (health === undefined || answer.ok) return;
  throw new LabError('MILLRACE_LAB_E_SERVER', `${health} answered ${answer.status}`);
}

function accepts(url) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ''));
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}

/** Reports whether nobody listens there. */
export async function portIsFree(url) {
  return accepts(url).then(
    () => false,
    () => true,
  );
}

/** Below those that Linux gives to connections that go out: one of them could have it before the server comes. */
const PORTS = { first: 10_000, last: 32_767 };
const ATTEMPTS = 100;

/**
 * A port on which nobody listens at the moment, and which no connection to somewhere else is given, nor any other process by this
 * function as long as this one lives. It is reserved before it is looked at: a process that looks listens on it for a moment, and must
 * not do so on the port of another.
 */
export async function freePort() {
  for (let attempt = 1; ; attempt += 1) {
    const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first + 1));
    try {
      await reserve(port);
      await tryOut(port);
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** A socket with a name and no file, which Linux has, stands for the port; it is gone with the process. Elsewhere chance must do. */
async function reserve(port) {
  const holder = createServer().unref();
  await listenOn(holder, { path: `\0millrace-port-${port}` }).catch((error) => {
    if (error.code === 'EADDRINUSE') throw error;
  });
}

/** Fails where somebody listens on the port. */
async function tryOut(port) {
  const server = createServer();
  await listenOn(server, { port, host: '127.0.0.1' });
  server.close();
  await once(server, 'close');
}

async function listenOn(server, address) {
  server.listen(address);
  await once(server, 'listening');
}
