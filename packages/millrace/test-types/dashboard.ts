// millrace/dashboard as its users' compilers see it.
import {
  type Dashboard,
  type DashboardFeed,
  type DashboardOptions,
  defaultPort,
  feedDashboard,
  type SwitchableFeature,
  serveDashboard,
  startDashboard,
} from 'millrace/dashboard';

const feature: SwitchableFeature = { name: 'ws', state: 'off', why: null, on() {}, off() {} };
const options: DashboardOptions = { host: '::1', port: defaultPort, token: null };
const dashboard: Dashboard = await serveDashboard({ ...options, features: { ws: feature } });
const url: string = dashboard.url;
const port: number = dashboard.port;
const feed: DashboardFeed = feedDashboard({ port, token: dashboard.feedToken });
feed.close();
const started: Dashboard | DashboardFeed | null = await startDashboard({ port: 0 });
const closed: Promise<void> = dashboard.close();

// @ts-expect-error: a port is a number
serveDashboard({ port: '80' });
// @ts-expect-error: the token of the feed is needed
feedDashboard({ port });
// @ts-expect-error: no state of a feature
const odd: SwitchableFeature = { ...feature, state: 'odd' };

export { closed, odd, started, url };
