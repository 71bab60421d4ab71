import type { Fault } from '../../faults/faults.ts';
import type { JobFault } from '../../jobs/job.ts';

/** The fault that a fault at a start plans for its job; null for every other fault. */
export function jobFaultOf(fault: Fault | null): JobFault | null {
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
