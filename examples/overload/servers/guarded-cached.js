import { guard } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import { classes } from './guarded.js';

export default {
  install: (app) => app.decorate('guard', guard(app.server, { classes })),

  copied: (handler, app) => ({
    handler: cached(handler, {
      ttl: 0,
      stale: 60,
      guard: app.guard,
      // A copy in place of a refusal, but not in place of an answer that the server has the time for.
      underPressure: () => false,
    }),
  }),
};
