const HOUR = 3_600;

/** How long addresses that are passed on are good for, in seconds, by the names of their texts. */
export const SHARE_TIMES = [
  ['hour', HOUR],
  ['day', 24 * HOUR],
  ['week', 7 * 24 * HOUR],
  ['month', 30 * 24 * HOUR],
] as const;

/** What is offered first. */
export const WEEK_SECONDS: number = 7 * 24 * HOUR;
