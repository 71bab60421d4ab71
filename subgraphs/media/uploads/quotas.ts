import { Readable } from 'node:stream';

import { type Caller, createAddressKey } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import type { MediaDatabase, MediaTransaction } from '../database/database.ts';
import { type Account, endReservation, lockAccount, saveReservation, readUsage } from './quota-store.ts';

/** How much one caller may upload; 0: no bound. */
interface UploadQuota {
  readonly bytes: number;
  readonly files: number;
}

/** The quotas of a caller without a credential (per address and day), of a user, and of a service key. */
export interface UploadQuotas {
  readonly anonymous: UploadQuota;
  readonly user: UploadQuota;
  readonly key: UploadQuota;
}

/** Counts what callers upload. Results of their tasks do not count. */
export type QuotaCounter = ReturnType<typeof createQuotaCounter>;

/** The room of one file. */
export interface Reservation {
  /** The body; it breaks off with the same errors where the quota ends. */
  bounded(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Ends it, with the bytes of the file that was stored; null: none was. */
  end(stored: number | null): Promise<void>;
}

/** Reserved first; then twice as much as has come, by steps up to the greatest. */
const FIRST_BYTES = 64 * 1024;
const GREATEST_STEP = 16 * 1024 * 1024;
/** Most that a request may have besides its files: its text, and the heads of its parts. */
const NO_FILES_BYTES = 5 * 1024 * 1024;

/** The room of callers without a quota: administrators, Kiln itself, and whom the setting leaves free. */
export const unbounded: Reservation = { bounded: (body) => body, end: async () => undefined };

/** Makes the counter. */
export function createQuotaCounter({
  database,
  quotas,
}: {
  readonly database: MediaDatabase;
  readonly quotas: UploadQuotas;
}) {
  const inTurn = oneAtATime((work) => database.transaction().execute(work));
  return {
    /**
     * Reserves room for one more file before its body is read, so that uploads at the same time can't pass the quota
     * together: RATE_LIMITED, PAYLOAD_TOO_LARGE. `id`: that the file will have. `requestBytes`: how long its request says
     * that it is; the files of one that is longer than the room are refused before any is read.
     */
    async reserve(caller: Caller, id: string, requestBytes: number | null = null): Promise<Reservation> {
      const quota = findQuota(caller, quotas);
      if (quota === null) return unbounded;
      const account = toAccount(caller);
      const grow = (least: number, wanted: number, reserved: number) =>
        inTurn(account.name, async (transaction) => {
          await lockAccount(transaction, account);
          const used = await readUsage(transaction, account);
          const room = quota.bytes === 0 ? Infinity : quota.bytes - used.bytes + reserved;
          const hasFile = reserved > 0 || quota.files === 0 || used.files < quota.files;
          if (!hasFile || room < least) throw full(caller, quota);
          const bytes = Math.min(wanted, room);
          await saveReservation(transaction, { id, account, bytes });
          return bytes;
        });
      let reserved = await grow(Math.max(1, (requestBytes ?? 0) - NO_FILES_BYTES), FIRST_BYTES, 0);
      return {
        async *bounded(body) {
          let seen = 0;
          // Left early when the store fails: its error is the answer, not that the body was destroyed.
          const chunks = body instanceof Readable ? body.iterator({ destroyOnReturn: false }) : body;
          for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
            seen += chunk.byteLength;
            if (quota.bytes > 0 && seen > reserved)
              reserved = await grow(seen, seen + Math.min(seen, GREATEST_STEP), reserved);
            yield chunk;
          }
        },
        end: (stored) =>
          database
            .transaction()
            .execute((transaction) => endReservation(transaction, { id, account, stored })),
      };
    },
  };
}

type Work<Value> = (transaction: MediaTransaction) => Promise<Value>;

/**
 * Lets the transactions of one account wait for each other here: each that waits in the database for the account's lock
 * would hold a connection, and uploads of one caller could take them all.
 */
function oneAtATime(run: <Value>(work: Work<Value>) => Promise<Value>) {
  const last = new Map<string, Promise<unknown>>();
  return async <Value>(account: string, work: Work<Value>): Promise<Value> => {
    const begin = () => run(work);
    const mine = (last.get(account) ?? Promise.resolve()).then(begin, begin);
    last.set(account, mine);
    try {
      return await mine;
    } finally {
      if (last.get(account) === mine) last.delete(account);
    }
  };
}

function findQuota(caller: Caller, quotas: UploadQuotas): UploadQuota | null {
  if (caller.kind === 'internal' || caller.scopes.includes('admin')) return null;
  const quota = quotas[caller.kind];
  return quota.bytes === 0 && quota.files === 0 ? null : quota;
}

function toAccount({ kind, id, address }: Caller): Account {
  const isDaily = kind === 'anonymous';
  return { name: isDaily ? createAddressKey(address) : id, isDaily };
}

function full({ kind }: Caller, { bytes, files }: UploadQuota): AppError {
  const most = [...(files > 0 ? [`${files} files`] : []), ...(bytes > 0 ? [`${bytes} bytes`] : [])].join(
    ' and ',
  );
  if (kind === 'anonymous') {
    const message = `without a credential ${most} may be uploaded a day: sign in, or come again tomorrow`;
    return new AppError('RATE_LIMITED', message, { field: 'file', retryAfter: secondsOfToday() });
  }
  const message = `your uploads may be ${most}: delete some with deleteMedia`;
  return new AppError('PAYLOAD_TOO_LARGE', message, { field: 'file' });
}

/** Until the next day in UTC. */
function secondsOfToday(): number {
  return 86_400 - (Math.floor(Date.now() / 1_000) % 86_400);
}
