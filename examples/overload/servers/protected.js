import underPressure from '@fastify/under-pressure';

/** The settings of the experiment that this example repeats; everything else is the plugin's default. */
export const LIMITS = { maxEventLoopDelay: 200, maxEventLoopUtilization: 0.8 };

export default {
  install: (app) => app.register(underPressure, LIMITS),
};
