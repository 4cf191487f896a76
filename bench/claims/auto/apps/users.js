/**
 * A row of PostgreSQL per request, over two connections: `users.js PORT-OF-POSTGRES`. PIPELINED=1 changes the line of the pool, the only one in
 * these applications that knows of Millrace.
 */
import { createServer } from 'node:http';
import pg from 'pg';

let pool = new pg.Pool({
  host: '127.0.0.1',
  port: process.argv[2],
  user: 'chat',
  database: 'postgres',
  max: 2,
});
if (process.env.PIPELINED === '1') pool = (await import('millrace/pg')).pipelined(pool);

const server = createServer(async (request, response) => {
  if (request.url === '/health') return response.end('ok\n');
  const id = request.url.slice('/users/'.length);
  const { rows } = await pool.query('SELECT id, name, mail FROM users WHERE id = $1', [id]);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(rows[0]));
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
