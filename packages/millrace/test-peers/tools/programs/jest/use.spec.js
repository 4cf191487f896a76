import fs from 'node:fs';
import { batch } from 'millrace';
import { features } from 'millrace/auto';
import { Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { run } from '../run.mjs';

test('batch(), rooms and auto work', async () => {
  expect(await run({ batch, Rooms, WebSocket, WebSocketServer, features, fs })).toEqual({
    doubled: [2, 4],
    sizes: [2],
    text: 'published',
    // Jest has replaced it, by graceful-fs.
    auto: 'fs.close was replaced before millrace/auto was loaded',
  });
});
