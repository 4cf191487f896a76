/** Three socket.io servers of one fleet, a client at each, and the broker between them. */
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { natsAdapter } from '@millrace/nats/socket-io';
import { open } from '../../../millrace/test/ws/socket-io.js';
import { longMs, patient, patiently } from '../patience.js';

let fleets = 0;

/** Stands for the test of a whole file: what is to be ended ends after its last test. */
export function wholeFile() {
  const ends = [];
  after(async () => {
    for (const end of ends.reverse()) await end();
  });
  return { after: (end) => void ends.push(end) };
}

/** Options of a broker for a fleet that is not that of another test. */
export const fleetAt = (broker) => ({
  ...patient(broker.url),
  namespace: `test-${process.pid}-${fleets++}`,
});

/**
 * A server with the adapter, as a `House`; `adapter` is what `natsAdapter` gave. By default it is silent for some seconds, so that a
 * broker that a busy machine keeps waiting leaves none out of its fleet; ready() waits for as long as the broker is only late.
 *
 * @param {import('node:test').TestContext} t
 * @param {object} broker options of the broker
 * @param {object} [options] of the server, and `heartbeat`, `durable`, `key` and `maxDelay` of the adapter
 */
export async function openNode(
  t,
  broker,
  { heartbeat = 5000, durable = false, key, maxDelay = 0, ...options } = {},
) {
  const adapter = natsAdapter({ broker: patient(broker), heartbeat, durable, key, maxDelay });
  const { ready } = adapter;
  adapter.ready = () => patiently(ready);
  const house = await open(t, { adapter, ...options });
  house.adapter = adapter;
  return house;
}

/** Opens `count` servers that know each other, with a client `a`, `b`, `c` … at each. */
export async function openFleet(t, broker, { count = 3, ...options } = {}) {
  const at = fleetAt(broker);
  const nodes = [];
  for (let n = 0; n < count; n++) nodes.push(await openNode(t, at, options));
  await Promise.all(nodes.map(({ adapter }) => adapter.ready()));
  await knowing(nodes, count);
  const guests = [];
  for (const [n, node] of nodes.entries()) {
    guests.push(await node.connect({ name: String.fromCharCode(97 + n) }));
  }
  return { nodes, guests, ios: nodes.map(({ io }) => io), at };
}

/** Resolves when each of them counts so many servers. */
export async function knowing(nodes, count, namespace = '/') {
  for (const { io } of nodes) {
    await when(async () => (await io.of(namespace).adapter.serverCount()) === count);
  }
}

/** Answers of all other servers to an event; they are asked again when they have not answered within the 5 s that there are. */
export async function askServers(io, ...packet) {
  for (;;) {
    try {
      return await io.serverSideEmitWithAck(...packet);
    } catch (error) {
      if (error.code !== 'MILLRACE_E_TIMEOUT') throw error;
    }
  }
}

export async function when(holds) {
  while (!(await holds())) await sleep(5);
}

/** Resolves when what each server has sent to the others has come to all clients, and is in what they received. */
export async function fence(nodes) {
  for (const { io } of nodes) await io.timeout(longMs).emitWithAck('fence of all');
}

/** What each client has received, after a fence: `{ name: messages }`. */
export async function takeAll({ nodes, guests }) {
  await fence(nodes);
  return Object.fromEntries(
    guests.map((guest) => [
      guest.name,
      guest.received.splice(0).filter(([event]) => event !== 'fence of all'),
    ]),
  );
}

/** The names of those that got exactly one message. */
export async function whoGot(fleet) {
  const received = await takeAll(fleet);
  return Object.keys(received)
    .filter((name) => received[name].length === 1)
    .join('');
}
