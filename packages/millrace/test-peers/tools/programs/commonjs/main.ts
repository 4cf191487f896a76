import fs = require('node:fs');
import millrace = require('millrace');
import auto = require('millrace/auto');
import sockets = require('millrace/ws');
import ws = require('ws');

const { run } = require('../run.mjs');

const halve: millrace.Batched<number, number> = millrace.batch(async (numbers: number[]) =>
  numbers.map((n) => n / 2),
);
const { features } = auto;
const state: auto.FeatureState = features.fs.state;

halve(4).then(async (half: number) => {
  if (half !== 2 || state === 'off') throw new Error(`${half} ${state}`);
  const { WebSocket, WebSocketServer } = ws;
  const given = { batch: millrace.batch, Rooms: sockets.Rooms, WebSocket, WebSocketServer };
  console.log(JSON.stringify(await run({ ...given, features, fs })));
  process.exit();
});
