// coalesce() as its users' compilers see it.
import type { Socket } from 'node:net';
import { type CoalesceOptions, type Coalescer, type CoalesceStats, coalesce } from 'millrace/net';

declare const socket: Socket;

const options: CoalesceOptions = { maxPendingBytes: 4096 };
const coalescer: Coalescer = coalesce(socket, options);
coalesce(socket);
// @ts-expect-error: no such option
coalesce(socket, { maxPending: 1 });
// @ts-expect-error: a number of bytes
coalesce(socket, { maxPendingBytes: '4 KiB' });
// @ts-expect-error: a socket is needed
coalesce('localhost:6379');

const stats: CoalesceStats = coalescer.stats();
const saved: number = stats.coalesced - stats.flushes + stats.writes;
coalescer.flush();
coalescer.off();
// @ts-expect-error: made by coalesce() alone
coalescer.endTurn();

void saved;
