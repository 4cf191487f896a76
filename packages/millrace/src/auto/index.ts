/**
 * Switches on the features that are safe for an unmodified application: `node --import millrace/auto app.js`.
 *
 * @module auto
 */
import { createRequire } from 'node:module';
import type { Features, Settings } from './start.cjs';

export type {
  DashboardSettings,
  DnsSettings,
  Feature,
  FeatureName,
  FeatureState,
  Features,
  GuardSettings,
  Settings,
} from './start.cjs';

let start: typeof import('./start.cjs');
try {
  // Node.js would look for the exports of a CommonJS module that is imported, with a parser that takes a third of our start.
  // biome-ignore lint/plugin: a bundle has the other way
  start = createRequire(import.meta.url)('millrace/auto');
} catch {
  start = await import('./start.cjs');
}

/** The features of this thread, to inspect and to switch on and off. */
export const features: Features = start.features;
/** Settings from the environment and the file. */
export const settings: Settings = start.settings;

const { ready } = start;
if (ready !== undefined) await ready;
