import { createServer } from 'node:http';
import { millraceAdapter, Rooms } from 'millrace/ws';
import * as names from '../lib/names.js';

export async function setup(name) {
  if (name === 'rooms') return names.socket();
  if (name === 'messages-with-a-key') return { rooms: new Rooms() };
  if (name === 'event-streams') return { missedSince: () => [] };
  if (name === 'broadcasts-with-a-key') return { io: await names.io(), millraceAdapter };
  return { httpServer: createServer() };
}
