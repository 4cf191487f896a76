/** The subjects: functions that give the row of a user, by a primary key, from the table that `fill` has made. */
import { pipelined } from 'millrace/pg';
import pg from 'pg';
import postgres from 'postgres';

export const users = 10_000;
const text = 'SELECT id, name, mail FROM users WHERE id = $1';

export async function fill(url) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`CREATE TABLE users (id int PRIMARY KEY, name text, mail text);
    INSERT INTO users SELECT n, 'name ' || n, n || '@example.com' FROM generate_series(1, ${users}) n;
    ANALYZE users`);
  await client.end();
}

function queryOf(pool, named) {
  if (!named) return async (id) => (await pool.query(text, [id])).rows[0];
  return async (id) => (await pool.query({ name: 'user', text, values: [id] })).rows[0];
}

/** Subjects, each with the function, `shared` queries so far where the pool counts them, and the end. */
export const subjects = {
  millrace(url, { clients, named, prepare }) {
    const pool = pipelined(new pg.Pool({ connectionString: url, max: clients }), { prepare });
    const shared = () => pool.pipelineStats().shared;
    return { find: queryOf(pool, named), shared, end: () => pool.end() };
  },
  'pool.query': (url, { clients, named }) => {
    const pool = new pg.Pool({ connectionString: url, max: clients });
    return { find: queryOf(pool, named), shared: null, end: () => pool.end() };
  },
  /** Prepares each statement by itself; otherwise this client would not pipeline statements with parameters. */
  'postgres.js': (url, { clients }) => {
    const sql = postgres(url, { max: clients });
    const find = async (id) => (await sql`SELECT id, name, mail FROM users WHERE id = ${id}`)[0];
    return { find, shared: null, end: () => sql.end() };
  },
};
