import assert from 'node:assert/strict';
import { setup as setupOfGuide } from './docs-reference-cluster.js';

export const setup = async () => void (await setupOfGuide());

export const checks = {
  'millracecluster-2': async ({ cluster }) => {
    assert.ok(cluster.stats().ready >= 1);
    await cluster.close();
  },
};
