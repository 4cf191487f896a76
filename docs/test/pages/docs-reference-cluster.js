import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { serve } from '@millrace/cluster';
import express from 'express';

export async function setup() {
  await writeFile('app.js', "export default (req, res) => res.end('hello');\n");
  return { app: express(), express, serve };
}

export const checks = {
  cluster: async ({ cluster }) => {
    assert.ok(cluster.stats().ready >= 1);
    await cluster.close();
  },
  'two-ways-to-call-it': ({ served }) => served.close(),
};
