/** Subjects: a client of ioredis that is connected to a port of this machine. */
import Redis from 'ioredis';
import { coalesce } from 'millrace/net';

const connect = (port, options) => new Redis({ port: Number(port), host: '127.0.0.1', ...options });

/** Subjects, each with the client and, where there is one, its coalescer. */
export const subjects = {
  millrace: async (port) => {
    const client = connect(port);
    const coalescer = await new Promise((resolve) => {
      client.once('ready', () => resolve(coalesce(client.stream)));
    });
    return { client, coalescer };
  },
  ioredis: async (port) => ({ client: connect(port), coalescer: null }),
  /** Pipelining by ioredis itself: commands wait for the end of the turn and leave as one pipeline. */
  'ioredis pipelining': async (port) => ({
    client: connect(port, { enableAutoPipelining: true }),
    coalescer: null,
  }),
};
