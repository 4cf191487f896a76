/** What was seen, as plain data. */
import type { FilesReport } from './files.js';
import type { FramesReport } from './frames.js';
import type { LoopReport } from './loop.js';
import type { ApplicationReport } from './process.js';
import type { RequestsReport } from './requests.js';
import type { ThreadpoolReport } from './threadpool.js';
import type { WritesReport } from './writes.js';

/** All that was seen, as plain data. */
export interface Report {
  /** The version of this shape. */
  version: 1;
  application: ApplicationReport;
  /** How long was observed. */
  seconds: number;
  writes: WritesReport;
  frames: FramesReport;
  files: FilesReport;
  requests: RequestsReport;
  loop: LoopReport;
  threadpool: ThreadpoolReport;
}
