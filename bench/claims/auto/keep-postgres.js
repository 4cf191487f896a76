/** `node keep-postgres.js PORT`: a PostgreSQL server with a table `users`, until stdin ends; prints a line when it is ready. */
import { once } from 'node:events';
import pg from 'pg';
import { findPostgres, startPostgres } from '../../../scripts/lib/postgres.js';

const USERS = 1000;

const bin = findPostgres();
if (bin === undefined) {
  console.error('PostgreSQL is not on this machine; install the Debian package postgresql');
  process.exit(1);
}
const ended = once(process.stdin.resume(), 'end');
const server = await startPostgres(bin, Number(process.argv[2]));
try {
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(
    `CREATE TABLE users (id int PRIMARY KEY, name text, mail text);
     INSERT INTO users SELECT n, 'name ' || n, n || '@example.com' FROM generate_series(1, ${USERS}) n;
     ANALYZE users`,
  );
  await client.end();
  console.log('ready');
  await ended;
} finally {
  await server.remove();
}
