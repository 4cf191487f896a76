// The types of millrace/auto, as an ES module sees them.
import {
  type Feature,
  type FeatureName,
  type FeatureState,
  type Features,
  features,
  type Settings,
  settings,
} from 'millrace/auto';

const all: Features = features;
const ws: Feature = all.ws;
ws.off();
ws.on();
const state: FeatureState = ws.state;
const why: string | null = ws.why;
const names: FeatureName[] = ['ws', 'fs', 'reads', 'net', 'guard', 'monitor'];
for (const name of names) features[name].on();
// @ts-expect-error: no such feature
features.pool;
// @ts-expect-error: it says what it does; it is not told
ws.state = 'off';
// @ts-expect-error: features stay
features.ws = ws;

const all2: Settings = settings;
const mode: 'act' | 'observe' | 'off' = all2.mode;
if (typeof settings.ws === 'object') {
  const delay: number | undefined = settings.ws.maxDelay;
  void delay;
}
if (settings.dashboard !== false) {
  const port: number = settings.dashboard.port;
  void port;
}
// @ts-expect-error: read once, at the start
settings.mode = 'off';
void [state, why, mode];
