// The socket.io adapter as its users' compilers see it.
import { type NatsAdapter, type NatsAdapterStats, natsAdapter } from '@millrace/nats/socket-io';
import { millraceAdapter } from 'millrace/ws';
import { Server } from 'socket.io';

new Server().adapter(millraceAdapter());
new Server({ adapter: millraceAdapter(), connectionStateRecovery: {} });
millraceAdapter({ key: (event, data: { id: number }) => (event === 'm' ? data.id : undefined) });
// @ts-expect-error: no such option
millraceAdapter({ maxDelay: 5 });
// @ts-expect-error: a key is a string or a number
millraceAdapter({ key: () => null });

const adapter: NatsAdapter = natsAdapter({ broker: 'nats://127.0.0.1', durable: true });
new Server().adapter(adapter);
const stats: NatsAdapterStats | null = adapter.stats();
void stats?.broker.state;
// @ts-expect-error: a broker is needed
natsAdapter({});
