import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendFile, readFile, writeFile } from 'millrace/fs';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const path = join(process.argv[3], `written by ${process.pid}`);
  await writeFile(path, 'a');
  await Promise.all([appendFile(path, 'b'), appendFile(path, 'c', { durable: true })]);
  const [text, bytes] = await Promise.all([readFile(path, 'utf8'), readFile(path)]);
  const { code } = await readFile(join(tmpdir(), 'there is none')).catch((error) => error);
  return { text, bytes: String(bytes), code };
});
