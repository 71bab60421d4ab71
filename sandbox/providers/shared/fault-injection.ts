import type { Fault } from '../../faults/faults.ts';
import type { JobFault } from '../../jobs/job.ts';

/** The job fault that an injected fault plans; null for other faults. */
export function toJobFault(fault: Fault | null): JobFault | null {
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
