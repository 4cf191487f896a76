/** The pictures that are drawn from kept data, by the names of their files: the same data give the same file, which docs/test holds them to. */
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
