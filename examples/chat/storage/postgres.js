import pg from 'pg';

// All in one transaction. Processes that start together go one after the other: IF NOT EXISTS alone lets two of them create the same.
const SCHEMA = `
  SELECT pg_advisory_xact_lock(hashtext('chat schema'));
  CREATE TABLE IF NOT EXISTS chat_rooms (
    name  text PRIMARY KEY,
    owner text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS chat_messages (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room      text NOT NULL CHECK (room <> ''),
    sender    text NOT NULL CHECK (sender <> ''),
    text      text NOT NULL CHECK (text <> ''),
    at        bigint NOT NULL,
    file_id   text,
    file_name text,
    file_size bigint,
    file_type text
  );
  CREATE INDEX IF NOT EXISTS chat_messages_by_room ON chat_messages (room, id);
  CREATE INDEX IF NOT EXISTS chat_messages_by_file ON chat_messages (file_id) WHERE file_id IS NOT NULL;
`;

const COLUMNS = 'room, sender, text, at, file_id, file_name, file_size, file_type';

const INSERT = {
  name: 'insert',
  text: `INSERT INTO chat_messages (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
};

// The rows are numbered in the order given, so the ids, sorted, belong to the rows in that order.
const INSERT_MANY = {
  name: 'insert-many',
  text: `INSERT INTO chat_messages (${COLUMNS})
    SELECT room, sender, text, at, file_id, file_name, file_size, file_type
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[],
                $5::text[], $6::text[], $7::bigint[], $8::text[]) WITH ORDINALITY
         AS row (room, sender, text, at, file_id, file_name, file_size, file_type, position)
    ORDER BY position
    RETURNING id`,
};

/** PostgreSQL through a pool. A connection that the server closed is replaced by the next query. */
export async function openPostgres(url, limits) {
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    application_name: 'millrace-example-chat',
    connectionTimeoutMillis: limits.storageTimeoutMs,
    query_timeout: limits.storageTimeoutMs,
    statement_timeout: limits.storageTimeoutMs,
  });
  // Without a listener an idle connection that breaks would end the process; the next query reports it anyway.
  pool.on('error', () => {});

  async function query(statement, values) {
    try {
      return (await pool.query(statement, values)).rows;
    } catch (error) {
      throw classify(error);
    }
  }

  const inOrder = lanes();

  async function insertMany(rows) {
    const columns = Array.from({ length: 8 }, () => []);
    for (const row of rows) {
      for (const [i, value] of toValues(row).entries()) columns[i].push(value);
    }
    try {
      const ids = await query(INSERT_MANY, columns);
      return ids.map((row) => Number(row.id)).sort((a, b) => a - b);
    } catch (error) {
      if (error.kind !== 'row') throw error;
      if (rows.length === 1) return [error];
      // Halving finds the bad row in log2(n) steps and keeps the order of the rest.
      const middle = rows.length >> 1;
      return [
        ...(await insertMany(rows.slice(0, middle))),
        ...(await insertMany(rows.slice(middle))),
      ];
    }
  }

  const database = {
    kind: 'postgres',
    async openRoom(room, owner, limit) {
      await query('INSERT INTO chat_rooms (name, owner) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        room,
        owner,
      ]);
      const [known] = await query('SELECT owner FROM chat_rooms WHERE name = $1', [room]);
      return { owner: known.owner, messages: await database.history(room, null, limit) };
    },
    async hasRoom(room) {
      return (await query('SELECT 1 FROM chat_rooms WHERE name = $1', [room])).length > 0;
    },
    insert: (row) =>
      inOrder(row.room, async () => Number((await query(INSERT, toValues(row)))[0].id)),
    insertMany,
    async history(room, before, limit) {
      const rows = await query(
        'SELECT * FROM chat_messages WHERE room = $1 AND id < $2 ORDER BY id DESC LIMIT $3',
        [room, before ?? Number.MAX_SAFE_INTEGER, limit],
      );
      return rows.map(toMessage).reverse();
    },
    async files(room, limit) {
      const rows = await query(
        `SELECT * FROM chat_messages WHERE room = $1 AND file_id IS NOT NULL ORDER BY id DESC LIMIT $2`,
        [room, limit],
      );
      return rows.map(toMessage);
    },
    async findFile(room, fileId) {
      const [row] = await query('SELECT * FROM chat_messages WHERE file_id = $1 AND room = $2', [
        fileId,
        room,
      ]);
      return row && toMessage(row);
    },
    async remove(room, id) {
      const [row] = await query(
        'DELETE FROM chat_messages WHERE id = $1 AND room = $2 RETURNING *',
        [id, room],
      );
      return row && toMessage(row);
    },
    ping: () => query('SELECT 1'),
    close: () => pool.end(),
  };

  try {
    await query(SCHEMA);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return database;
}

// The pool runs queries side by side; messages of one room must still commit in the order they came.
function lanes() {
  const tails = new Map();
  return (key, run) => {
    const turn = (tails.get(key) ?? Promise.resolve()).then(run, run);
    tails.set(key, turn);
    const done = () => {
      if (tails.get(key) === turn) tails.delete(key);
    };
    turn.then(done, done);
    return turn;
  };
}

function toValues({ room, from, text, at, file }) {
  return [
    room,
    from,
    text,
    at,
    file?.id ?? null,
    file?.name ?? null,
    file?.size ?? null,
    file?.type ?? null,
  ];
}

function toMessage(row) {
  const message = {
    id: Number(row.id),
    room: row.room,
    from: row.sender,
    text: row.text,
    at: Number(row.at),
  };
  if (row.file_id !== null) {
    message.file = {
      id: row.file_id,
      name: row.file_name,
      size: Number(row.file_size),
      type: row.file_type,
    };
  }
  return message;
}

function classify(error) {
  const code = String(error.code ?? '');
  // SQLSTATE classes 22 (data exception) and 23 (constraint) are about the row, all else about the server.
  error.kind = /^2[23]/.test(code) ? 'row' : 'outage';
  error.reason = reason(code, error.message);
  return error;
}

function reason(code, message) {
  if (code === '53100') return 'disk full';
  if (code === '25006') return 'read-only';
  if (/timeout|timed out/i.test(message) || code === '57014') return 'no answer in time';
  if (/^(08|57P)/.test(code) || /^E[A-Z]+$/.test(code) || /terminated/i.test(message)) {
    return 'unreachable';
  }
  return 'error';
}
