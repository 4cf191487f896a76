/** The server of PeerJS as its README starts it: it passes signals from one client to the other. */
import { PeerServer } from 'peer';

PeerServer({ host: '127.0.0.1', port: 0, path: '/' }, (server) => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
