/** The one cluster of this program: node:cluster has one set of settings, and the signals mean one thing. */
import type { Cluster } from './cluster.js';

export const active: { cluster: Cluster | null } = { cluster: null };
