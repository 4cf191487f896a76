/** Preloads Sentry's `anrIntegration`: a worker with an open inspector session, which pauses the blocked program. */
import * as Sentry from '@sentry/node';

Sentry.init({
  dsn: process.env.SENTRY_DSN,
  integrations: [
    Sentry.anrIntegration({
      captureStackTrace: true,
      anrThreshold: 100,
      pollInterval: 50,
      maxAnrEvents: 1000,
    }),
  ],
});
