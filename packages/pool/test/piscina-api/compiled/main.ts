import { resolve } from 'node:path';
import { Pool } from '@millrace/pool';

async function main(): Promise<void> {
  const pool = new Pool<null, Uint8Array | unknown[]>({
    filename: resolve(__dirname, 'task.ts'),
    workerData: 'mine',
    maxThreads: 1,
  });
  const bytes = await pool.run(null, { name: 'moved' });
  const told = await pool.run(null, { name: 'told' });
  console.log(JSON.stringify([bytes.length, told]));
  await pool.close();
}

void main();
