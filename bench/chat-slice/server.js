/**
 * The slice of a chat that is measured: each message goes unchanged to every member of its room,
 * the sender included. `node server.js direct` is what one writes with ws alone; `adaptive` uses
 * millrace's Rooms. Sends its port; answers each message with what it has done so far.
 */
import { WebSocket, WebSocketServer } from 'ws';

const deliveries = { count: 0 };

const policies = {
  direct: () => {
    const rooms = new Map();
    return (socket, name) => {
      if (!rooms.has(name)) rooms.set(name, new Set());
      const room = rooms.get(name);
      room.add(socket);
      socket.on('close', () => room.delete(socket));
      socket.on('message', (data, binary) => {
        for (const member of room) {
          if (member.readyState === WebSocket.OPEN) member.send(data, { binary });
        }
        deliveries.count += room.size;
      });
    };
  },
  adaptive: async () => {
    const { Rooms } = await import('millrace/ws');
    const rooms = new Rooms();
    deliveries.stats = () => rooms.stats();
    return (socket, name) => {
      rooms.join(socket, name);
      socket.on('message', (data, binary) => {
        deliveries.count += rooms.publish(name, data, { binary });
      });
    };
  },
};

const serve = await policies[process.argv[2]]();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket, request) => {
  serve(socket, new URL(request.url, 'ws://127.0.0.1').searchParams.get('room'));
});
server.on('listening', () => process.send({ port: server.address().port }));

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({
    cpu_us: user + system,
    deliveries: deliveries.count,
    stats: deliveries.stats?.(),
  });
});
// The end of the one who measures is the end of the server.
process.on('disconnect', () => process.exit());
