/** What a program can see of itself: the same with and without auto. */
const { hasSubscribers } = require('node:diagnostics_channel');
const { promises } = require('node:fs');

const { readFile } = promises;
/** The monitor comes when the process has lived for a while. */
const isSettled = () => process[Symbol.for('millrace.auto')]?.features.monitor.state !== 'waiting';

setTimeout(function look() {
  if (!isSettled()) return setTimeout(look, 20);
  console.log(
    JSON.stringify({
      globals: Object.getOwnPropertyNames(globalThis),
      process: Object.getOwnPropertyNames(process),
      keys: Object.keys(process),
      env: Object.keys(process.env).filter((name) => name.startsWith('MILLRACE')),
      events: process.eventNames(),
      resources: process.getActiveResourcesInfo(),
      main: require.main === module,
      parent: module.parent === null,
      argv: process.argv.length,
    }),
  );
  console.log(
    JSON.stringify({
      execArgv: process.execArgv,
      touched: !String(readFile).startsWith('async function'),
      subscribed: [
        'net.server.socket',
        'net.client.socket',
        'tracing:net.server.listen:asyncStart',
      ].some(hasSubscribers),
    }),
  );
}, 250);
