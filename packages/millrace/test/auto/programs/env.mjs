/** An application that does away with its environment: `delete` or `empty`. */
import { createServer } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { fanOut } from './fan-out.js';

// Node.js needs the environment for the first server.
const first = createServer().listen(0);
await new Promise((resolve) => first.once('listening', resolve));
first.close();
const [, , how] = process.argv;
if (how === 'delete') delete process.env;
if (how === 'empty') process.env = {};
const result = await fanOut({ WebSocket, WebSocketServer });
const { why } = process[Symbol.for('millrace.auto')].features.ws;
// console.log() needs it.
process.stdout.write(JSON.stringify({ ...result, why }));
