/** Chat with the server of Bun: `bun bun.js`. */
import { tell } from './tell.js';

let sent = 0;

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request, self) {
    const room = new URL(request.url).searchParams.get('room');
    return self.upgrade(request, { data: { room } })
      ? undefined
      : new Response(null, { status: 426 });
  },
  websocket: {
    perMessageDeflate: false,
    // Nothing is left out for a socket that is behind.
    backpressureLimit: 1024 ** 3,
    open(socket) {
      socket.subscribe(socket.data.room);
    },
    message(socket, message) {
      const { room } = socket.data;
      server.publish(room, message);
      sent += server.subscriberCount(room);
    },
  },
});
tell(server.port, () => ({ deliveries: sent }));
