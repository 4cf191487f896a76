// The socket.io adapter as its users' compilers see it.
import { type NatsAdapter, type NatsAdapterStats, natsAdapter } from '@millrace/nats/socket-io';
import { millraceAdapter } from 'millrace/ws';
import { Server } from 'socket.io';

new Server().adapter(millraceAdapter());
new Server({ adapter: millraceAdapter(), connectionStateRecovery: {} });
// @ts-expect-error: it has no options
millraceAdapter({ maxDelay: 5 });

const adapter: NatsAdapter = natsAdapter({ broker: 'nats://127.0.0.1', durable: true });
new Server().adapter(adapter);
const stats: NatsAdapterStats | null = adapter.stats();
void stats?.broker.state;
// @ts-expect-error: a broker is needed
natsAdapter({});
