/**
 * Node of a fleet: `node node.js SUBJECT URL OPTIONS`. Its connections are handed to it by the process that started it, so that all
 * nodes are behind one port. A client joins the room that its URL names; each message goes to everybody in the room.
 */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { subjects } from './subjects.js';

const [subject, url, options] = process.argv.slice(2);
const rooms = await subjects[subject](url, JSON.parse(options));
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
const server = createServer();
server.on('upgrade', (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (client) => {
    const name = new URL(request.url, 'ws://127.0.0.1').searchParams.get('room');
    rooms.join(client, name);
    client.on('message', (data) => rooms.publish(name, data));
  });
});
process.on('message', async (what, socket) => {
  if (socket) server.emit('connection', socket);
  else process.send(what === 'present' ? rooms.presence('r').length : rooms.stats());
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
