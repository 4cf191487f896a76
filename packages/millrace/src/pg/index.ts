/**
 * PostgreSQL: a pool of `pg` whose queries share connections when there are more queries than connections.
 *
 * @module pg
 */
export {
  type PgPool,
  type PipelinedPool,
  type PipelineOptions,
  type PipelineStats,
  pipelined,
} from './pipelined.js';
