import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder that is removed after the test. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), 'millrace-fs-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
