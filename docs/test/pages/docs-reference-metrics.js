import assert from 'node:assert/strict';
import Fastify from 'fastify';

const app = Fastify();

export const setup = () => ({ app });

export const checks = {
  metrics: async () => {
    const { statusCode, body } = await app.inject('/metrics');
    assert.equal(statusCode, 200);
    assert.match(body, /^# HELP millrace_\w+/m);
    assert.match(body, /^process_resident_memory_bytes /m);
  },
};
