/** Subjects: ways to protect an application of Fastify. Each returns a function that reports its counts. */

const underPressure = (options) => async (app) => {
  const { default: plugin } = await import('@fastify/under-pressure');
  await app.register(plugin, options);
  return () => ({ isUnderPressure: app.isUnderPressure(), ...app.memoryUsage() });
};

export const subjects = {
  unprotected: async () => () => null,

  async millrace(app) {
    const { guard } = await import('@millrace/guard');
    const guarded = guard(app.server, { classHeader: 'x-priority' });
    return () => guarded.stats();
  },

  /** under-pressure as its documentation shows it. Its limits of memory are left out: they would refuse whatever the load is. */
  'under-pressure': underPressure({ maxEventLoopDelay: 1000, maxEventLoopUtilization: 0.98 }),
  /** The settings of an article on the health of the event loop. */
  'under-pressure 200 ms': underPressure({ maxEventLoopDelay: 200, maxEventLoopUtilization: 0.8 }),
  /** The best that was found for this load. */
  'under-pressure tuned': underPressure({ maxEventLoopDelay: 25, sampleInterval: 100 }),
};
