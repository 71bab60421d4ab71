import type { Fault } from '../../faults/faults.ts';
import type { Misfortune } from '../../jobs/job.ts';

/** The misfortune that a fault at a start plans for its job; null for every other fault. */
export function misfortuneOf(fault: Fault | null): Misfortune | null {
  switch (fault?.fault) {
    case 'stall':
      return 'stall';
    case 'upstream-error':
      return 'fail';
    case 'late-moderation':
      return 'moderate';
    default:
      return null;
  }
}
