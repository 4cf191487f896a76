const { WebSocket, WebSocketServer } = require('ws');

async function main() {
  const { fanOut, saved } = await import('./fan-out.js');
  const result = await fanOut({ WebSocket, WebSocketServer });
  console.log(JSON.stringify({ ...result, saved: await saved() }));
}

main();
