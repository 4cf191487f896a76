import { once } from 'node:events';
import mysql from 'mysql2';

const column = {
  catalog: 'def',
  schema: 'test',
  table: 'users',
  orgTable: 'users',
  name: 'id',
  orgName: 'id',
  characterSet: 33,
  columnLength: 11,
  columnType: 253,
  type: 253,
  flags: 129,
  decimals: 0,
};

/** The server's side of mysql2: answers each query with the ids in it, as rows; `queries` has their texts. */
export async function startMysql(t) {
  const queries = [];
  const server = mysql.createServer();
  server.on('connection', (connection) => {
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.0',
      connectionId: 1,
      statusFlags: 2,
      characterSet: 8,
      capabilityFlags: 0xffffff ^ 0x800,
    });
    connection.on('error', () => undefined);
    connection.on('query', (sql) => {
      queries.push(sql);
      const rows = [...sql.matchAll(/\d+/g)].map(([id]) => ({ id }));
      // Packets are numbered from a query, which is 0, to the end of its answer.
      connection.sequenceId = 1;
      connection.writeTextResult(rows, [column]);
      connection.sequenceId = 0;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server._server, 'listening');
  t.after(() => server.close());
  return { queries, host: '127.0.0.1', port: server._server.address().port };
}
