import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A member of the room `r`: it calls back with the text of each message. */
export async function join(port, onText) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?room=r`);
  socket.on('message', (data) => onText(data.toString()));
  // A node that is killed takes its connections along.
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}
