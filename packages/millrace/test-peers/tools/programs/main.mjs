import fs from 'node:fs';
import { batch } from 'millrace';
import { features } from 'millrace/auto';
import { Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { run } from './run.mjs';

run({ batch, Rooms, WebSocket, WebSocketServer, features, fs }).then((result) => {
  console.log(JSON.stringify(result));
  process.exit();
});
