/**
 * The slice of a chat that is measured: each message goes unchanged to every member of its room,
 * the sender included. `node server.js direct` is what one writes with ws alone; `adaptive` uses
 * millrace's Rooms. Sends its port first, and what it has written when it is asked.
 */
import { WebSocket, WebSocketServer } from 'ws';

const policies = {
  direct: () => {
    const rooms = new Map();
    let sent = 0;
    return {
      stats: () => ({ deliveries: sent, writes: sent }),
      serve(socket, name) {
        if (!rooms.has(name)) rooms.set(name, new Set());
        const room = rooms.get(name);
        room.add(socket);
        socket.on('close', () => room.delete(socket));
        socket.on('message', (data, binary) => {
          for (const member of room) {
            if (member.readyState === WebSocket.OPEN) member.send(data, { binary });
          }
          sent += room.size;
        });
      },
    };
  },
  adaptive: async () => {
    const { Rooms } = await import('millrace/ws');
    const rooms = new Rooms();
    return {
      stats() {
        const { deliveries, sends } = rooms.stats();
        return { deliveries, writes: sends };
      },
      serve(socket, name) {
        rooms.join(socket, name);
        socket.on('message', (data, binary) => {
          rooms.publish(name, data, { binary });
        });
      },
    };
  },
};

const { serve, stats } = await policies[process.argv[2]]();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket, request) => {
  serve(socket, new URL(request.url, 'ws://127.0.0.1').searchParams.get('room'));
});
server.on('listening', () => process.send({ port: server.address().port }));

process.on('message', () => process.send(stats()));
// The end of the one who measures is the end of the server.
process.on('disconnect', () => process.exit());
