/**
 * Why a request is turned away. `wait`: it would have to wait too long; `age`: it did; `full`: the queue is; `pressure`, `unhealthy`: a limit
 * that was set, or a health check.
 */
export type ShedReason = 'wait' | 'age' | 'full' | 'pressure' | 'unhealthy';

export const shedReasons: readonly ShedReason[] = ['wait', 'age', 'full', 'pressure', 'unhealthy'];
