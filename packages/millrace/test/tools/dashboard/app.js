// An application under a load of its own, for the page: batches, and a feature whose state is told over IPC.
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { monitor } from '@millrace/monitor';
import { stalls } from '@millrace/monitor/stalls';
import { batch } from 'millrace';
import { serveDashboard } from 'millrace/dashboard';
import { observe } from 'millrace/observe';
import { feature } from './support.js';

const [port, feedToken, withChild, observes, token, blocksUntil] = process.argv.slice(2);
const observation = observes ? observe() : null;
if (!observes) monitor();
const double = batch(async (numbers) => numbers.map((number) => number * 2));
setInterval(() => {
  for (let n = 0; n < 20; n += 1) double(n);
}, 20);

const ws = feature('ws');
const tell = (change) => () => {
  change.call(ws);
  process.send({ state: ws.state });
};
const features = { ws: Object.assign(ws, { on: tell(ws.on), off: tell(ws.off) }) };
const dashboard = await serveDashboard({
  port: Number(port),
  feedToken,
  features,
  ...(token ? { token } : {}),
  ...(observation ? { report: () => observation.report() } : {}),
});
if (withChild) {
  fork(new URL('feeder.js', import.meta.url), [String(dashboard.port), feedToken]);
}
process.send({ url: dashboard.url, port: dashboard.port });
if (blocksUntil) {
  stalls({ log: false, probes: { port: 0 } });
  process.on('message', function renderInvoice() {
    while (!existsSync(blocksUntil));
  });
}
process.on('disconnect', () => process.exit());
