import { parentPort, workerData } from 'node:worker_threads';
import Database from 'libsql';

const { file, timeoutMs, maxBytes } = workerData;

// The CHECKs repeat what the protocol already refuses: whatever writes here next cannot break the readers.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS rooms (
    name  TEXT PRIMARY KEY,
    owner TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS messages (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    room      TEXT NOT NULL CHECK (room <> ''),
    sender    TEXT NOT NULL CHECK (sender <> ''),
    text      TEXT NOT NULL CHECK (text <> ''),
    at        INTEGER NOT NULL,
    file_id   TEXT,
    file_name TEXT,
    file_size INTEGER,
    file_type TEXT
  );
  CREATE INDEX IF NOT EXISTS messages_by_room ON messages (room, id);
  CREATE INDEX IF NOT EXISTS messages_by_file ON messages (file_id) WHERE file_id IS NOT NULL;
`;

let db;
let sql;

const operations = {
  open() {
    try {
      db = new Database(file);
    } catch (error) {
      throw Object.assign(error, { code: 'SQLITE_CANTOPEN' });
    }
    db.pragma(`busy_timeout = ${timeoutMs}`);
    db.pragma('journal_mode = WAL');
    // A commit returns only when the log is on the disk: an acknowledged message survives a power cut.
    db.pragma('synchronous = FULL');
    db.pragma(`max_page_count = ${Math.max(1, Math.floor(maxBytes / 4096))}`);
    db.exec(SCHEMA);
    sql = {
      addRoom: db.prepare('INSERT OR IGNORE INTO rooms (name, owner) VALUES (?, ?)'),
      room: db.prepare('SELECT owner FROM rooms WHERE name = ?'),
      insert: db.prepare(
        `INSERT INTO messages (room, sender, text, at, file_id, file_name, file_size, file_type)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      history: db.prepare(
        'SELECT * FROM messages WHERE room = ? AND id < ? ORDER BY id DESC LIMIT ?',
      ),
      files: db.prepare(
        'SELECT * FROM messages WHERE room = ? AND file_id IS NOT NULL ORDER BY id DESC LIMIT ?',
      ),
      file: db.prepare('SELECT * FROM messages WHERE file_id = ? AND room = ?'),
      message: db.prepare('SELECT * FROM messages WHERE id = ? AND room = ?'),
      remove: db.prepare('DELETE FROM messages WHERE id = ?'),
    };
  },

  openRoom(room, owner, limit) {
    let known = sql.room.get([room]);
    if (known === undefined) {
      sql.addRoom.run([room, owner]);
      known = sql.room.get([room]);
    }
    return { owner: known.owner, messages: operations.history(room, null, limit) };
  },

  hasRoom(room) {
    return sql.room.get([room]) !== undefined;
  },

  insert(row) {
    return insertRow(row);
  },

  insertMany(rows) {
    db.exec('BEGIN IMMEDIATE');
    try {
      const results = rows.map((row) => {
        try {
          return insertRow(row);
        } catch (error) {
          const plain = toPlain(error);
          // A refused row undoes only its own statement; anything else is about the whole transaction.
          if (plain.kind === 'row' && db.inTransaction) return plain;
          throw error;
        }
      });
      db.exec('COMMIT');
      return results;
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  },

  history(room, before, limit) {
    return sql.history
      .all([room, before ?? Number.MAX_SAFE_INTEGER, limit])
      .map(toMessage)
      .reverse();
  },

  files(room, limit) {
    return sql.files.all([room, limit]).map(toMessage);
  },

  findFile(room, fileId) {
    const row = sql.file.get([fileId, room]);
    return row && toMessage(row);
  },

  remove(room, id) {
    const row = sql.message.get([id, room]);
    if (row === undefined) return undefined;
    sql.remove.run([id]);
    return toMessage(row);
  },

  // Takes the write lock for a moment: a database that can only be read is of no use to a chat.
  ping() {
    db.exec('BEGIN IMMEDIATE');
    db.exec('ROLLBACK');
  },

  close() {
    db.close();
  },
};

parentPort.on('message', ({ id, operation, args }) => {
  if (operation === 'exit') {
    parentPort.close();
    return;
  }
  try {
    parentPort.postMessage({ id, result: operations[operation](...args) });
  } catch (error) {
    parentPort.postMessage({ id, error: toPlain(error) });
  }
});

function insertRow({ room, from, text, at, file: f }) {
  const info = sql.insert.run([
    room,
    from,
    text,
    at,
    f?.id ?? null,
    f?.name ?? null,
    f?.size ?? null,
    f?.type ?? null,
  ]);
  return Number(info.lastInsertRowid);
}

function toMessage(row) {
  const message = { id: row.id, room: row.room, from: row.sender, text: row.text, at: row.at };
  if (row.file_id !== null) {
    message.file = {
      id: row.file_id,
      name: row.file_name,
      size: row.file_size,
      type: row.file_type,
    };
  }
  return message;
}

function toPlain(error) {
  const code = String(error.code ?? '');
  // Errors of another kind come from binding a value that no column can hold.
  const isRow = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code) || !/^SQLITE_/.test(code);
  const kind = isRow ? 'row' : 'outage';
  return { message: error.message, kind, reason: reason(code) };
}

function reason(code) {
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return 'locked';
  if (code.startsWith('SQLITE_FULL')) return 'disk full';
  if (code.startsWith('SQLITE_READONLY')) return 'read-only';
  if (code.startsWith('SQLITE_CANTOPEN')) return 'cannot be opened';
  return 'error';
}
