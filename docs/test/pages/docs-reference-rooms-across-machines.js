import assert from 'node:assert/strict';
import { natsRooms } from '@millrace/nats/rooms';
import { Rooms } from 'millrace/ws';
import * as names from '../lib/names.js';

export async function setup() {
  await names.broker({ jetstream: true });
  return { Rooms, natsRooms, ...(await names.socket()) };
}

export const checks = {
  'first-steps': ({ rooms }) => assert.equal(rooms.stats().across.link.state, 'up'),
  'durable-rooms': ({ rooms }) => assert.equal(rooms.stats().across.durable.stored, 1),
  presence: ({ rooms }) => assert.deepEqual(rooms.presence('lobby')[0].data, { away: false }),
};
