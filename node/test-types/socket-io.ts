// The socket.io adapter as its users' compilers see it.
import { millraceAdapter } from 'millrace/ws';
import { Server } from 'socket.io';

new Server().adapter(millraceAdapter());
new Server({ adapter: millraceAdapter(), connectionStateRecovery: {} });
// @ts-expect-error: it has no options
millraceAdapter({ maxDelay: 5 });
