import underPressure from '@fastify/under-pressure';
import { LIMITS } from './protected.js';

export default {
  install: (app) => app.register(underPressure, LIMITS),

  copied(handler, app) {
    let copy;
    return {
      // Under pressure these routes are not refused: they are called, and ask for themselves.
      config: { pressureHandler: () => undefined },
      handler(request, reply) {
        if (copy && app.isUnderPressure()) {
          reply.header('age', Math.floor((Date.now() - copy.madeAt) / 1000));
          return copy.body;
        }
        copy = { body: handler(), madeAt: Date.now() };
        return copy.body;
      },
    };
  },
};
