/** Pictures drawn from kept data, by file name. The same data give the same file, which docs/test checks. */
import { beforeAndAfter, forest, growth, latency, tournament } from './measured.js';
import { turn } from './turn.js';

export const pictures = {
  'before-after': beforeAndAfter,
  forest,
  growth,
  latency,
  tournament,
  turn,
};
