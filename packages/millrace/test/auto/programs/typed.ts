import { WebSocket, WebSocketServer } from 'ws';
// @ts-expect-error: plain JavaScript
import { fanOut, saved } from './fan-out.js';

enum Kind {
  Typed = 'typed',
}

const result: object = await fanOut({ WebSocket, WebSocketServer });
console.log(JSON.stringify({ ...result, saved: await saved(), kind: Kind.Typed }));
