/** The words of rate limits. */

/**
 * Classes of requests that are counted separately: status reads (files and sockets too), other reads, starts of work, other
 * changes (uploads, cancels, catalogs, starts that were refused), sign-ins, which count per address whoever asks, and the points
 * of GraphQL documents that are new.
 */
export type RateClass = 'status' | 'read' | 'start' | 'write' | 'sign-in' | 'plan';

/** Requests per minute and caller. */
export type RateLimits = Readonly<Record<RateClass, number>>;

/** The limits of one caller in place of everybody's. */
export interface OwnLimits {
  /** The id of a caller, or an address or CIDR range. */
  readonly caller: string;
  /** Null: no limits. */
  readonly limits: Partial<RateLimits> | null;
}
