import assert from 'node:assert/strict';
import { bridge } from '@millrace/nats/events';
import { BatchEmitter } from 'millrace';
import * as names from '../lib/names.js';

export async function setup(name) {
  const config =
    name === 'options-of-the-connection' ? 'authorization { user: shop, password: secret }' : '';
  const { url } = await names.broker({ config });
  process.env.NATS_PASSWORD = 'secret';
  return { BatchEmitter, bridge, emitter: new BatchEmitter(), url };
}

export const checks = {
  'a-first-example-2': async ({ events }) => {
    const other = new BatchEmitter();
    await bridge(other, { broker: process.env.BROKER, events: ['order'] }).ready();
    const heard = new Promise((resolve) => {
      other.on('order', (order) => order.id === 'after' && resolve(order));
    });
    events.emit('order', { id: 'after' });
    assert.deepEqual(await heard, { id: 'after' });
  },
  'options-of-the-connection': ({ bridged }) => assert.equal(bridged.stats().link.state, 'up'),
  'what-is-lost-is-counted': ({ bridged }) => assert.equal(bridged.stats().missed, 0),
};
