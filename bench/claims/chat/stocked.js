/**
 * The chat with rooms that exist before anybody is there: HTTP alone cannot make one. Takes the chat's options.
 * `archive` has a full page of history, `lobby` has none, `shelf` has a file of 4 KB. Ids of new messages have seven digits from the start, so that
 * a server which saves more does not answer with more bytes.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../../examples/chat/limits.js';
import { openStorage } from '../../../examples/chat/storage/index.js';
import { FILE_ID } from './file.js';

const CHAT = new URL('../../../examples/chat/package.json', import.meta.url);
const TEXT = 'x'.repeat(100);
const FILE_BYTES = 4096;
const AT = Date.UTC(2025, 7, 1);

const dir = mkdtempSync(join(tmpdir(), 'millrace-lab-chat-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));

const database = join(dir, 'chat.db');
const storage = await openStorage(database);
for (const room of ['archive', 'lobby', 'shelf']) await storage.openRoom(room, 'lab', 0);
const page = Array.from({ length: limits.historyLength }, (_, i) => ({
  ...{ room: 'archive', from: 'lab', text: TEXT, at: AT + i },
}));
const file = { id: FILE_ID, name: 'file', size: FILE_BYTES, type: 'application/octet-stream' };
await storage.insertMany([...page, { room: 'shelf', from: 'lab', text: 'file', at: AT, file }]);
mkdirSync(join(dir, 'files'));
writeFileSync(join(dir, 'files', FILE_ID), Buffer.alloc(FILE_BYTES, 'content'));
await storage.close();

const Database = createRequire(CHAT)('libsql');
const db = new Database(database);
db.exec("UPDATE sqlite_sequence SET seq = 1000000 WHERE name = 'messages'");
db.close();

process.argv.push('--database', database, '--data-dir', dir);
await import('../../../examples/chat/server.js');
