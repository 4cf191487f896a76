// A cluster of two, of which each process does what auto does. The primary tells the address, and ends with its parent.
import cluster from 'node:cluster';
import { startDashboard } from 'millrace/dashboard';

const dashboard = await startDashboard({ port: 0 });
if (cluster.isPrimary) {
  cluster.fork();
  cluster.fork();
  process.send({ port: dashboard.port });
  process.on('disconnect', () => process.exit());
}
