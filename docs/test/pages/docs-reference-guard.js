import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { guard } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import { snippetsOf } from '../lib/snippets.js';

const answer = async () => 'an answer';
const given = {
  ...{ checkout: answer, report: answer, events: answer, healthCheck: async () => true },
  tenantOf: () => 'a tenant',
};

export async function setup(name) {
  const server = createServer().listen(0);
  const prices = (req, res) => res.end('prices');
  Object.assign(given, { server, prices });
  if (name.startsWith('settings-from-a-file')) {
    const { code } = snippetsOf('docs/reference/guard.md').find(
      ({ name }) => name === 'settings-from-a-file',
    );
    await writeFile('millrace.json', code);
    // JSON is YAML, too.
    await writeFile('platformatic.yaml', code);
    const { default: fastify } = await import('fastify');
    given.app = fastify();
  } else {
    const { default: express } = await import('express');
    given.app = express();
  }
  if (name === 'where-copies-are-kept') Object.assign(given, { cached, g: guard(server) });
  return given;
}

export const checks = {
  'overload-guard': ({ g }) =>
    assert.deepEqual(Object.keys(g.stats().classes), [...['high', 'normal', 'low', 'exempt']]),
  fastify: async ({ app }) => {
    const { statusCode } = await app.inject('/status');
    assert.equal(statusCode, 200);
  },
  'settings-from-a-file-2': ({ settings }) => {
    assert.equal(settings.healthCheckInterval, 2000);
    assert.equal(settings.guard.maxWait, 200);
    assert.equal(settings.guard.classes['GET /checkout'], 'high');
  },
  'settings-from-a-file-3': () => assert.equal(given.app.millraceGuard.options.maxWait.high, 200),
};
