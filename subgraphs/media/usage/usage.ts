import type { Caller } from '../../../platform/access/caller.ts';
import type { Units } from '../domain/cost.ts';

/** What totals can be grouped by. */
export const usageDimensions = ['DAY', 'MODEL', 'GENERATOR', 'PROVIDER', 'OWNER', 'KEY'] as const;

/** What totals are by. */
export type UsageDimension = (typeof usageDimensions)[number];

/** The totals of one group; a dimension that was not asked for is null. */
export interface UsageRow {
  /** YYYY-MM-DD in UTC. */
  readonly day: string | null;
  readonly model: string | null;
  readonly generator: string | null;
  readonly provider: string | null;
  readonly owner: string | null;
  readonly key: string | null;
  /** Tasks that ended so. */
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly attempts: number;
  readonly chats: number;
  /** Attempts and chats whose cost is unknown: it is not in the sum. */
  readonly unpriced: number;
  /** Null when none of them has a known cost. */
  readonly microUnits: number | null;
  readonly currency: string | null;
  readonly units: Units;
}

interface UsageRequest {
  readonly by: readonly UsageDimension[];
  /** Moments of the first and the last day (default: the last 30 days). */
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
  readonly sandbox?: boolean | null | undefined;
}

/** Who used what, and what it cost. */
export interface UsageService {
  /** The caller's own usage; administrators see everybody's. BAD_USER_INPUT for a range that is turned round or too long. */
  usage(caller: Caller, request: UsageRequest): Promise<readonly UsageRow[]>;
}
