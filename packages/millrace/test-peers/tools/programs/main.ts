import fs from 'node:fs';
import { type Batched, batch } from 'millrace';
import { type FeatureState, features } from 'millrace/auto';
import { Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { run } from './run.mjs';

const halve: Batched<number, number> = batch(async (numbers: number[]) =>
  numbers.map((n) => n / 2),
);
const state: FeatureState = features.fs.state;
const half: number = await halve(4);
if (half !== 2 || state === 'off') throw new Error(`${half} ${state}`);

console.log(JSON.stringify(await run({ batch, Rooms, WebSocket, WebSocketServer, features, fs })));
process.exit();
