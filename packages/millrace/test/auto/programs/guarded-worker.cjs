/** `guard` in a worker of a cluster, whose server listens only when the primary has answered. */
const cluster = require('node:cluster');
const { createServer } = require('node:http');

if (cluster.isPrimary) {
  cluster.fork();
} else {
  const server = createServer().listen(0, '127.0.0.1', async () => {
    const { features } = process[Symbol.for('millrace.auto')];
    const deadline = Date.now() + 600_000;
    while (features.guard.state === 'waiting' && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    console.log(JSON.stringify(Object.hasOwn(server, 'emit')));
    process.exit();
  });
}
