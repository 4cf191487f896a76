/**
 * Measures the cost of rooms and presence with a broker: `node --expose-gc bench/programs/scale/rooms/sizes.js [PRESENT]`. Bytes and CPU
 * time, not speed: once is enough.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { natsRooms } from '@millrace/nats/rooms';
import { Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { CpuClock } from '../../../lib/cpu.js';
import { startNats } from '../nats.js';

const many = 10_000;
const present = Number(process.argv[2] ?? 20_000);
if (!Number.isSafeInteger(present) || present < 1 || globalThis.gc === undefined) {
  console.error('usage: node --expose-gc bench/programs/scale/rooms/sizes.js [PRESENT]');
  process.exit(1);
}
const broker = await startNats();
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const sockets = new WebSocketServer({ server });
new WebSocket(`ws://127.0.0.1:${server.address().port}`);
const [socket] = await once(sockets, 'connection');
const nodes = [];
let collecting = 0;
const brokerClock = new CpuClock(broker.pid);
try {
  const [first, second] = [await open(), await open()];

  const made = await cost(async () => {
    for (let n = 0; n < many; n += 1) first.join(socket, `room ${n}`);
    await first.ready();
  });
  show('a room with a member', many, made);

  const known = await cost(async () => {
    const options = (n) => ({ id: `user-${n}`, data: { name: 'two words' } });
    for (let n = 0; n < present; n += 1) first.join(socket, `hall ${n}`, options(n));
    await until(() => presentAt(second) === present);
  });
  // Their rooms are here as well; at the second node there is nothing but who is present.
  show('someone present, in a room alone, at both nodes', present, known);
  const wire = () => nodes.at(-1).stats().across.link.receivedBytes;
  console.log(`someone present: ${(wire() / present).toFixed(0)} bytes on the wire to a node`);

  const news = await cost(async () => {
    const newcomer = await open();
    await until(() => presentAt(newcomer) === present);
  });
  show('someone present, for a newcomer', present, news);
  console.log(`someone present: ${(wire() / present).toFixed(0)} bytes on the wire to a newcomer`);
} finally {
  for (const rooms of nodes) rooms.close();
  await Promise.all(nodes.map((rooms) => rooms.closed()));
  await broker.stop();
}
process.exit();

async function open() {
  const rooms = new Rooms({ across: natsRooms({ broker: broker.url }) });
  nodes.push(rooms);
  await rooms.ready();
  return rooms;
}

function presentAt(rooms) {
  return rooms.stats().across.present;
}

async function until(holds) {
  while (!holds()) await sleep(5);
}

/** Returns the cost of an action in this process and at the broker: bytes and µs. */
async function cost(work) {
  const before = read();
  await work();
  const after = read();
  return Object.fromEntries(
    Object.entries(after).map(([key, value]) => [key, value - before[key]]),
  );
}

function read() {
  // Collecting takes time that is not for the figures.
  const { user, system } = process.cpuUsage();
  globalThis.gc();
  const { user: gcUser, system: gcSystem } = process.cpuUsage();
  collecting += gcUser + gcSystem - user - system;
  const status = readFileSync(`/proc/${broker.pid}/status`, 'utf8');
  return {
    bytes: process.memoryUsage().heapUsed,
    us: gcUser + gcSystem - collecting,
    brokerBytes: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) * 1024,
    brokerUs: brokerClock.read(),
  };
}

function show(what, count, { bytes, us, brokerBytes, brokerUs }) {
  const each = (value) => (value / count).toPrecision(2);
  console.log(
    `${what}: ${each(bytes)} bytes and ${each(us)} us in this process, ${each(brokerBytes)} bytes and ${each(brokerUs)} us at the broker`,
  );
}
