/** A server of ws: each message from anybody brings every client a frame that no other gets. Says its port, and answers questions about itself. */
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () =>
  process.send({ port: server.address().port }),
);
let clients = 0;
server.on('connection', (socket) => {
  const id = clients++;
  socket.on('message', (data) => {
    let n = 0;
    for (const client of server.clients) client.send(`${id}.${n++}: ${data}`);
  });
});

process.on('message', () => process.send({ rss_mb: process.memoryUsage.rss() / 1e6 }));
process.once('disconnect', () => process.exit());
