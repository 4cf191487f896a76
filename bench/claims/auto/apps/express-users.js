/** A row of PostgreSQL per request, with Express: `express-users.js PORT-OF-POSTGRES`. */
import express from 'express';
import pg from 'pg';

const pool = new pg.Pool({
  host: '127.0.0.1',
  port: process.argv[2],
  user: 'chat',
  database: 'postgres',
});
const app = express();
app.get('/health', (_request, response) => response.send('ok\n'));
app.get('/users/:id', async (request, response) => {
  const { rows } = await pool.query('SELECT id, name, mail FROM users WHERE id = $1', [
    request.params.id,
  ]);
  response.json(rows[0]);
});

const server = app.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
