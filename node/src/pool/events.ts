import type { AllocationReason } from './allocations.js';

/** What those who run the tasks tell the pool. */
export interface SchedulerEvents {
  emit(event: string, ...args: unknown[]): void;
  allocated(reason: AllocationReason): void;
}
