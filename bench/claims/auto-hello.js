import { measured } from '@millrace/lab/report';
import { armsOf, hasAuto } from './auto/arms.js';
import { applicationMetrics } from './auto/metrics.js';
import { window } from './auto/window.js';

export const question = 'What does auto cost an application that has nothing to batch?';

export const about =
  'A server of node:http answers each request at once with a line of text, on 100 keep-alive connections. auto waits for work to ' +
  'batch; MILLRACE=observe counts the calls, and reports at the end what batching would gain.';

/** Observe does not act; it prints its report when the server is ended. */
const isOn = (run) => hasAuto(run) || /millrace/i.test(run.output);

const { control: plain, auto } = armsOf('hello.js', { isOn });

export const control = plain;
export const treatment = [auto(), auto('observe', { from: 'paper' })];

export const load = {
  kind: 'script',
  file: new URL('./auto/hello-load.js', import.meta.url).href,
  connections: 100,
  ...window,
};

export const metrics = applicationMetrics('request');

export const rounds = { quick: 6, paper: 30 };

/** MB of 10^6 bytes, per process. */
const MOST_MB = 3;

export const notes = ({ figures }) =>
  figures
    .filter(({ metric, shift }) => metric === 'rss_mb' && shift)
    .map(({ arm, shift: { estimate, lo, hi } }) => {
      const [at, from, to] = [estimate, lo, hi].map((mb) => measured(mb, 'MB'));
      return `Memory that ${arm} takes besides: ${at} (${from} to ${to}); ${MOST_MB} MB are allowed.`;
    });
