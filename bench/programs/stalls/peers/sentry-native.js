/** Preloads Sentry's `eventLoopBlockIntegration`: an addon of its own that reads stacks of other threads. */
import * as Sentry from '@sentry/node';
import { eventLoopBlockIntegration } from '@sentry/node-native';

Sentry.init({
  dsn: process.env.SENTRY_DSN,
  integrations: [eventLoopBlockIntegration({ threshold: 100, maxEventsPerHour: 10_000 })],
});
