// Rooms as its users' compilers see it.
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { type DurableStats, type NatsRoomsStats, natsRooms } from '@millrace/nats/rooms';
import {
  type Connection,
  type Presence,
  type PresenceChange,
  Rooms,
  type RoomsOptions,
  type RoomsStats,
  type SlowInfo,
} from 'millrace/ws';
import type { WebSocket } from 'ws';

declare const socket: WebSocket;

const options: RoomsOptions = {
  policy: 'adaptive',
  maxDelay: 5,
  maxBatch: 10,
  maxQueue: 10,
  maxQueueBytes: 10,
  maxPending: 1024,
  slow: 'drop-low',
  onSlow: (info: SlowInfo) => void info,
};
const rooms = new Rooms(options);
new Rooms();
// @ts-expect-error: no such option
new Rooms({ maxpending: 1 });
// @ts-expect-error: no such way
new Rooms({ slow: 'drop' });
// @ts-expect-error: rooms are the types, and their order is given
new Rooms({ order: 'arrival' });
// @ts-expect-error: a number of bytes
new Rooms({ maxPending: '1 MiB' });

const joined: boolean = rooms.join(socket, 'lobby');
const left: boolean = rooms.leave(socket, 'lobby') || rooms.leave(socket);
const addressed: number = rooms.publish('lobby', 'text', { priority: 'high', except: socket });
rooms.publish('lobby', Buffer.from('bytes'), { binary: true, key: 'k' });
rooms.send(socket, 'text', { key: 1 });
// @ts-expect-error: a number is no message
rooms.publish('lobby', 1);
// @ts-expect-error: no such class
rooms.publish('lobby', 'text', { priority: 'urgent' });
rooms.send(socket, 'text', { priority: 'low' });
// @ts-expect-error: there is nobody else to leave out
rooms.send(socket, 'text', { except: socket });
// @ts-expect-error: a socket is needed
rooms.join('lobby', socket);

declare const response: ServerResponse;
declare const response2: Http2ServerResponse;
new Rooms({ keepAlive: 15_000 });
for (const each of [response, response2]) rooms.join(each, 'lobby');
rooms.send(response, 'text', { event: 'price', id: '17' });
rooms.publish('lobby', 'text', { event: 'price', id: '17', except: response });
// @ts-expect-error: an id is text
rooms.publish('lobby', 'text', { id: 17 });

const size: number = rooms.size('lobby');
const members: Connection[] = [...rooms.members('lobby')];
const names: string[] = rooms.of(socket);
rooms.set({ maxDelay: 0 }).flush();
rooms.close();
const stats: RoomsStats = rooms.stats();
const dropped: number = stats.dropped.low + stats.slowClosed;

const acrossMachines = new Rooms({
  across: natsRooms({
    broker: { servers: ['nats://127.0.0.1:4222'], namespace: 'chat', user: 'chat', password: '' },
    durable: (room) => room.startsWith('chat/'),
    stream: { maxAge: 60_000, maxBytes: 2 ** 30, replicas: 3 },
    heartbeat: 1000,
    required: true,
  }),
  onPresence: ({ room, joined, left, reason }: PresenceChange) => {
    const who: string[] = [...joined, ...left].map(({ id }) => id);
    const byNode: boolean = reason === 'node';
    void [room, who, byNode];
  },
});
natsRooms({ broker: 'nats://127.0.0.1:4222', durable: true });
// @ts-expect-error: the option of natsRooms, not of the connection
natsRooms({ broker: { servers: '', required: true } });
// @ts-expect-error: no such limit
natsRooms({ broker: '', stream: { maxMessages: 1 } });
// @ts-expect-error: a broker is needed
natsRooms({ durable: true });
// @ts-expect-error: of natsRooms
new Rooms({ across: { broker: '' } });
acrossMachines.join(socket, 'chat/1', { id: 'ann', data: { away: false } });
// @ts-expect-error: an id is a string
acrossMachines.join(socket, 'chat/1', { id: 1 });
const present: readonly Presence[] = acrossMachines.presence('chat/1');
const ends: Promise<void>[] = [
  acrossMachines.ready(),
  acrossMachines.acknowledged(),
  acrossMachines.closed(),
];
const across: NatsRoomsStats | null = acrossMachines.stats().across;
const durable: DurableStats | null = across?.durable ?? null;
const lost: number = (across?.unsent ?? 0) + (across?.missed ?? 0);

void [present, ends, durable, lost];
void [joined, left, addressed, size, members, names, dropped];
