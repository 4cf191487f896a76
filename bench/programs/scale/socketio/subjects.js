/** The adapters that are compared, by how a server gets them. A place is what their broker is found by: a URL, or a port. */

import { natsAdapter } from '@millrace/nats/socket-io';
import { createAdapter } from '@socket.io/redis-adapter';
import { createAdapter as createStreamsAdapter } from '@socket.io/redis-streams-adapter';
import { Redis } from 'ioredis';

const redis = (port) => new Redis(Number(port), '127.0.0.1');

export const subjects = {
  millrace: (broker) => natsAdapter({ broker }),
  'redis-adapter': (port) => createAdapter(redis(port), redis(port)),
  'redis-streams-adapter': (port) => createStreamsAdapter(redis(port)),
};
