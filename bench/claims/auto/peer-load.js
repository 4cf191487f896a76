/** Pairs of clients of PeerJS that send each other the candidates of their connection; now and then one sends its heartbeat. */
import { randomUUID } from 'node:crypto';
import { socketsLoad } from './sockets-load.js';

const CANDIDATE = '1 1 udp 2122260223 192.168.0.2 56143 typ host '.padEnd(400, '.');
const HEARTBEAT = JSON.stringify({ type: 'HEARTBEAT' });
/** So that 100 clients send one every 5 s each. */
const CANDIDATES_PER_HEARTBEAT = 300;

export default socketsLoad(() => {
  // The server remembers the clients of an earlier call for a while.
  const call = randomUUID();
  const idOf = (n) => `${call}-${n}`;
  return {
    path: (n) => `/peerjs?key=peerjs&id=${idOf(n)}&token=token-${n}`,
    rate: 6000,
    read(text) {
      const { type, payload } = JSON.parse(text);
      if (type === 'OPEN') return 'joined';
      return type === 'CANDIDATE' ? payload.number : undefined;
    },
    act(number, clients) {
      const n = number % clients.length;
      const payload = { number, candidate: { candidate: CANDIDATE, sdpMid: '0' } };
      clients[n].send(JSON.stringify({ type: 'CANDIDATE', dst: idOf(n ^ 1), payload }));
      if (number % CANDIDATES_PER_HEARTBEAT === 0) clients[n].send(HEARTBEAT);
    },
    deliveries: 1,
  };
});
