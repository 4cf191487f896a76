import assert from 'node:assert/strict';
import DataLoader from 'dataloader';
import { BatchEmitter, batch } from 'millrace';
import * as names from '../lib/names.js';

const shipped = [];
const keyed = [];

export function setup(name) {
  const given = {
    ...names.storage(),
    batch,
    DataLoader,
    load: async (keys) => keys,
    ship: (order) => shipped.push(order),
  };
  if (name === 'keys') {
    given.bus = new BatchEmitter();
    for (const type of ['price', 'sold']) given.bus.on(type, (value) => keyed.push(value));
  }
  return given;
}

export const checks = {
  batch: ({ id }) => assert.equal(id, 1),
  batchemitter: () => assert.deepEqual(shipped, [{ id: 1 }]),
  keys: () => assert.deepEqual(keyed, [{ symbol: 'ABC', price: 8 }, 5]),
};
