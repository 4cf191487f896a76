import { armsOf, hasAuto } from './auto/arms.js';
import { installed } from './auto/installed.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question = 'What does auto bring a page of Next.js?';

export const about =
  'next start, with an application of create-next-app, on 50 connections. A static page of the Pages Router is read with readFile ' +
  'for each request. In the second case each connection requests a page of the App Router and its files: styles, scripts of up to ' +
  '230 KB, images. Next.js looks at each file with fs.stat and sends it as a stream. A page of the App Router alone, the third ' +
  'case, comes from memory: there is nothing to gain.';

const {
  control: plain,
  auto,
  byHand,
} = armsOf(() => installed('node_modules/next/dist/bin/next'), {
  isOn: hasAuto,
  args: () => ['start', installed('next'), '--port', '0', '--hostname', '127.0.0.1'],
  env: () => ({ NEXT_TELEMETRY_DISABLED: '1' }),
  ready: /Local: +(http:\S+)/,
  health: '/window.svg',
});

export const control = plain;
export const treatment = [auto(), byHand('files')];

export const load = {
  kind: 'script',
  file: ({ file }) => new URL(`./auto/${file}.js`, import.meta.url).href,
  connections: 50,
  ...window,
};

export const cases = [
  { label: 'static page', file: 'next-page-load' },
  { label: 'page and its files', file: 'next-load' },
  { label: 'page of the App Router', file: 'hello-load', from: 'paper' },
];

export const metrics = applicationMetrics('request');

export const rounds = { quick: 6, paper: 20 };
