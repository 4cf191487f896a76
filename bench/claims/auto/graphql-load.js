/** Clients of graphql-transport-ws with one subscription each, under an id of its own; requests publish its values. */
import { randomUUID } from 'node:crypto';
import { socketsLoad } from './sockets-load.js';

const QUERY = 'subscription { price { number text } }';

export default socketsLoad(({ url, connections }) => {
  const answer = async (path) => (await fetch(new URL(path, url))).text();
  return {
    path: () => '/graphql',
    protocol: 'graphql-transport-ws',
    rate: 50,
    open(client) {
      client.send(JSON.stringify({ type: 'connection_init' }));
    },
    read(text, client) {
      const { type, payload } = JSON.parse(text);
      if (type === 'next') return payload.data.price.number;
      if (type !== 'connection_ack') return undefined;
      client.send(
        JSON.stringify({ id: randomUUID(), type: 'subscribe', payload: { query: QUERY } }),
      );
      return 'joined';
    },
    isReady: async () => Number(await answer('/subscribers')) === connections,
    async act() {
      await answer('/publish');
    },
    deliveries: connections,
  };
});
