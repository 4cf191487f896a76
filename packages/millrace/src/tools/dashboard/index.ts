/**
 * The dashboard: a page with live charts of this process and of its child processes.
 *
 * @module dashboard
 */
export { type DashboardFeed, feedDashboard } from './feed.js';
export {
  type DashboardAddress,
  type DashboardOptions,
  defaultPort,
  type FeedOptions,
} from './options.js';
export type { FeatureInfo, Shown, SwitchableFeature } from './sample.js';
export { type Dashboard, serveDashboard, startDashboard } from './serve.js';
