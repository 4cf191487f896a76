import { ChatError } from '../errors.js';
import { limits as defaults } from '../limits.js';
import { openPostgres } from './postgres.js';
import { openSqlite } from './sqlite.js';

/**
 * The one storage interface. A database behind it has:
 *
 *   openRoom(room, owner, history) → {owner, messages}   creates the room on demand; the newest messages, oldest first
 *   hasRoom(room) → boolean
 *   insert(row) → id                 one durable transaction; calls for one room commit in the order made
 *   insertMany(rows) → (id|Error)[]  one durable transaction; a bad row is an Error in its place and fails alone
 *   history(room, before, limit) → messages, oldest first
 *   files(room, limit) → messages that carry a file, newest first
 *   findFile(room, fileId) → message or undefined
 *   remove(room, id) → the removed message or undefined
 *   ping(), close()
 *
 * row: {room, from, text, at, file?: {id, name, size, type}}; message: the same with `id`. Times are ms since 1970.
 * Errors carry `kind`: 'row' when this row is at fault, else 'outage' with a short `reason`.
 */
export async function openStorage(url, { limits = defaults, onChange = () => {} } = {}) {
  const isPostgres = /^postgres(ql)?:\/\//.test(url);
  const database = isPostgres ? await openPostgres(url, limits) : await openSqlite(url, limits);
  return new Storage(database, limits, onChange);
}

/** Wraps a database: knows whether it is reachable, notices when it is back, speaks ChatError. */
class Storage {
  #database;
  #limits;
  #onChange;
  #probe;
  /** Figures for /health. */
  state;

  constructor(database, limits, onChange) {
    this.#database = database;
    this.#limits = limits;
    this.#onChange = onChange;
    this.state = { kind: database.kind, ok: true, since: new Date().toISOString(), reason: null };
  }

  get kind() {
    return this.#database.kind;
  }

  openRoom(...args) {
    return this.#run('openRoom', args);
  }

  hasRoom(...args) {
    return this.#run('hasRoom', args);
  }

  insert(...args) {
    return this.#run('insert', args);
  }

  async insertMany(rows) {
    const results = await this.#run('insertMany', [rows]);
    return results.map((result) => (result instanceof Error ? toChatError(result) : result));
  }

  history(...args) {
    return this.#run('history', args);
  }

  files(...args) {
    return this.#run('files', args);
  }

  findFile(...args) {
    return this.#run('findFile', args);
  }

  remove(...args) {
    return this.#run('remove', args);
  }

  async close() {
    clearTimeout(this.#probe);
    this.#probe = null;
    await this.#database.close();
  }

  async #run(operation, args) {
    try {
      const result = await this.#database[operation](...args);
      if (!this.state.ok) this.#change(true, null);
      return result;
    } catch (error) {
      if (error.kind !== 'row' && this.state.ok) this.#change(false, error.reason ?? 'error');
      throw toChatError(error);
    }
  }

  #change(ok, reason) {
    this.state = { ...this.state, ok, reason, since: new Date().toISOString() };
    this.#onChange(this.state);
    if (!ok) this.#schedule();
  }

  // Only while the database is down: nobody may be writing when it comes back, and people want to know.
  #schedule() {
    if (this.#probe === null) return;
    clearTimeout(this.#probe);
    this.#probe = setTimeout(async () => {
      await this.#run('ping', []).catch(() => {});
      if (!this.state.ok) this.#schedule();
    }, this.#limits.storageProbeMs);
    this.#probe.unref();
  }
}

function toChatError(error) {
  if (error instanceof ChatError) return error;
  const wrapped =
    error.kind === 'row'
      ? new ChatError('bad_row', 'The database refused this message.')
      : new ChatError(
          'storage_unavailable',
          `Not saved: the database is unavailable (${error.reason ?? 'error'}). Try again in a moment.`,
        );
  wrapped.cause = error;
  return wrapped;
}
