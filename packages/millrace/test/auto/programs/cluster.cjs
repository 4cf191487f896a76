/** One worker of a cluster, which tells its primary process. */
const cluster = require('node:cluster');

if (cluster.isPrimary) {
  const worker = cluster.fork();
  worker.on('message', (message) => {
    console.log(JSON.stringify(message));
    worker.disconnect();
  });
} else {
  const ws = require('ws');
  import('./fan-out.js').then(async ({ fanOut, saved }) => {
    process.send({ ...(await fanOut(ws)), saved: await saved() });
  });
}
