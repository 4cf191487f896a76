import { WebSocket, WebSocketServer } from 'ws';
import { fanOut, saved } from './fan-out.js';

const result = await fanOut({ WebSocket, WebSocketServer });
console.log(JSON.stringify({ ...result, saved: await saved() }));
