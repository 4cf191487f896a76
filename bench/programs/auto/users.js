/** A row of PostgreSQL for each request, by `pool.query`: `users.js URL`. Says its port, and answers questions about itself. */
import { createServer } from 'node:http';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });
const server = createServer(async (_, res) => {
  const { rows } = await pool.query('SELECT $1::text AS text', ['hello world']);
  res.end(rows[0].text);
});

process.on('message', () => process.send({ rss_mb: process.memoryUsage.rss() / 1e6 }));
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
