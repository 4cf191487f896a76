// pipelined() as its users' compilers see it.
import {
  type PgPool,
  type PipelinedPool,
  type PipelineOptions,
  type PipelineStats,
  pipelined,
} from 'millrace/pg';

interface Pool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  connect(): Promise<{ release(): void }>;
  end(): Promise<void>;
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

declare const plain: Pool;
export const asPool: PgPool = plain;

const options: PipelineOptions = {
  maxDepth: 32,
  maxPipelined: 4,
  slow: 5,
  writes: true,
  prepare: true,
  maxQueue: 1000,
};
const pool: PipelinedPool<Pool> = pipelined(plain, options);
const queried: Promise<{ rows: unknown[] }> = pool.query('SELECT 1', []);
const stats: PipelineStats = pool.pipelineStats();
export const shared: number = stats.shared / stats.queries;
// @ts-expect-error: no such option
pipelined(plain, { depth: 1 });
// @ts-expect-error: a pool is needed
pipelined({ query: () => {} });
// @ts-expect-error: the query is that of the pool
pool.query(1);

void queried;
