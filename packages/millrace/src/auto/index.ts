/**
 * Switches on what is safe for an application as it is: `node --import millrace/auto app.js`.
 *
 * @module auto
 */
import { ready } from './start.cjs';

export {
  type DashboardSettings,
  type DnsSettings,
  type Feature,
  type FeatureName,
  type FeatureState,
  type Features,
  features,
  type GuardSettings,
  type Settings,
  settings,
} from './start.cjs';

if (ready !== undefined) await ready;
