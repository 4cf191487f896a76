/**
 * The dashboard: a page with live charts of this process and of those it has started.
 *
 * @module dashboard
 */
export { type DashboardFeed, feedDashboard } from './feed.js';
export { type DashboardOptions, defaultPort, type FeedOptions } from './options.js';
export type { FeatureInfo, SwitchableFeature } from './sample.js';
export type { Shown } from './sampler.js';
export { type Dashboard, serveDashboard } from './serve.js';
export { type DashboardAddress, startDashboard } from './start.js';
