import { AppError } from './errors.ts';

/** Seconds after which a request that met an absent database may be sent again. */
const RETRY_AFTER_SECONDS = 2;

/** Codes of PostgreSQL while it starts, stops, has no connection left, or takes too long for a statement. */
const SERVER_CODES = /^(08...|53300|57P0[123]|57014|25P0[34])$/;
/** Codes of sockets; those of any other outbound call are HttpFailures. */
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** What the driver says without a code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (was closed|has encountered a connection error)|Cannot use a pool after calling end)/;

/** The error of a database that is away or too busy, as callers see it; undefined for any other error. */
export function databaseAway(thrown: unknown): AppError | undefined {
  if (!(thrown instanceof Error) || thrown instanceof AppError || !isUnavailable(thrown)) return undefined;
  const message = 'the database does not answer; try again in a moment';
  return new AppError('UNAVAILABLE', message, { retryAfter: RETRY_AFTER_SECONDS, cause: thrown });
}

function isUnavailable(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Node joins the failures of several addresses of one name.
  const isSocket = SOCKET_CODES.has(code) && ('syscall' in error || error instanceof AggregateError);
  // A server that has stopped takes its Unix socket with it; a file that is not there is another matter.
  const isSocketGone = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect';
  // A pooler that refuses what every connection sends does not come back by itself.
  if (error.message.startsWith('unsupported startup parameter')) return false;
  return isSocket || isSocketGone || SERVER_CODES.test(code) || DRIVER_MESSAGES.test(error.message);
}
