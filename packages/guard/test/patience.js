/** Options of Fastify for tests: a plugin is loaded in some ms, and on a busy machine in some seconds. */
export const patience = { pluginTimeout: 600_000 };
