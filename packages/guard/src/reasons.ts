/**
 * Reason for a refusal. `wait`: its predicted wait is too long; `age`: it has waited too long; `full`: the queue is full; `pressure`:
 * a configured limit is exceeded; `unhealthy`: the health check fails.
 */
export type ShedReason = 'wait' | 'age' | 'full' | 'pressure' | 'unhealthy';

export const shedReasons: readonly ShedReason[] = ['wait', 'age', 'full', 'pressure', 'unhealthy'];
