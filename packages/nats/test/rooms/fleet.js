/** Nodes of a fleet in this process: each has its own connection to the broker, a server, and sockets. */
import { natsRooms } from '@millrace/nats/rooms';
import { Rooms } from 'millrace/ws';
import { openHall } from '../../../millrace/test/ws/hall.js';
import { patient, patiently } from '../patience.js';

/** `Rooms` with options of its own and of `natsRooms()`; ready() waits for as long as the broker is only late. */
export function roomsAcross({ broker, durable, stream, heartbeat, required, ...options }) {
  const across = natsRooms({ broker: patient(broker), durable, stream, heartbeat, required });
  const rooms = new Rooms({ across, ...options });
  const ready = rooms.ready.bind(rooms);
  rooms.ready = () => patiently(ready);
  return rooms;
}

/**
 * A node with `peers` of sockets; it is closed with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {string | object} broker
 * @param {{ peers?: number, room?: string }} [setting] `room`: they have all joined it
 */
export async function openNode(t, broker, options = {}, { peers: count = 1, room = 'x' } = {}) {
  const hall = await openHall(t);
  const peers = await hall.connectMany(count);
  const rooms = roomsAcross({ broker, heartbeat: 1000, ...options });
  t.after(async () => {
    rooms.close();
    await rooms.closed().catch(() => {});
  });
  for (const { server } of peers) if (room !== null) rooms.join(server, room);
  return { rooms, peers, peer: peers[0], hall, fleet: () => rooms.stats().across };
}

/** Several of them, which hear each other. */
export async function openNodes(t, broker, count, options, setting) {
  const nodes = [];
  for (let n = 0; n < count; n++) nodes.push(await openNode(t, broker, options, setting));
  await Promise.all(nodes.map(({ rooms }) => rooms.ready()));
  return nodes;
}

/** Resolves when `holds()` does; it is looked at every few ms, for as long as the test runs. */
export async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Resolves when the node has lost its broker. */
export const away = ({ fleet }) => until(() => fleet().link.state === 'down');
export const back = ({ fleet }) => until(() => fleet().link.state === 'up');
