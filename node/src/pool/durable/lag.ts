/** How far the workers of a stream are behind. */
import type { Link } from '../../broker/link.js';
import { type LaneName, lanes, type TaskNames } from './names.js';

/** Messages of one priority; each has one task, or a pack of short ones. */
export interface LaneLag {
  /** Nobody has them yet. */
  readonly pending: number;
  /** A worker has them. */
  readonly unacknowledged: number;
  /** Those of them that had been with another worker, or came back after a wait. */
  readonly redelivered: number;
}

/** What a stream of tasks has to do. `alone`: tasks that were with a worker that ended; they run one at a time. */
export interface TaskLag extends Readonly<Record<LaneName, LaneLag>> {
  /** Dead letters. */
  readonly dead: number;
}

const none: LaneLag = { pending: 0, unacknowledged: 0, redelivered: 0 };

/** Asks the broker. Rejects with MILLRACE_E_BROKER when it is away, and with what it says, for instance that there is no such stream. */
export async function lagOf(link: Link, names: TaskNames): Promise<TaskLag> {
  const { jsm } = await link.jetstream();
  const lag: Record<LaneName, LaneLag> = { high: none, normal: none, low: none, alone: none };
  const { state } = await jsm.streams.info(names.stream, { subjects_filter: '>' });
  await Promise.all(
    lanes.map(async (lane) => {
      const info = await jsm.consumers.info(names.stream, lane).catch(() => null);
      lag[lane] =
        info === null
          ? { ...none, pending: state.subjects?.[names.subject(lane)] ?? 0 }
          : {
              pending: info.num_pending,
              unacknowledged: info.num_ack_pending,
              redelivered: info.num_redelivered,
            };
    }),
  );
  const dead = await jsm.streams.info(names.deadStream).catch(() => null);
  return { ...lag, dead: dead?.state.messages ?? 0 };
}
