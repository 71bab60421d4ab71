/** The largest answer over a channel or HTTP between processes of Kiln. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
