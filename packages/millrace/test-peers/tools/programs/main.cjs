const fs = require('node:fs');
const { batch } = require('millrace');
const { features } = require('millrace/auto');
const { Rooms } = require('millrace/ws');
const { WebSocket, WebSocketServer } = require('ws');
const { run } = require('./run.mjs');

run({ batch, Rooms, WebSocket, WebSocketServer, features, fs }).then((result) => {
  console.log(JSON.stringify(result));
  process.exit();
});
