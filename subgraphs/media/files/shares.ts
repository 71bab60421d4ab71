import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

import { sql } from 'kysely';

import { mayChange } from '../../../platform/access/caller.ts';
import { lockTransaction } from '../../../platform/database/advisory-lock.ts';
import { badInput, notFound } from '../../../platform/errors.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { FileService, Share, ShareService } from './files.ts';
import { formatFilePath } from './names.ts';

/**
 * Addresses to be passed on, which end. The id of a file is sealed in them: as it reads the file for good, whoever is
 * given such an address must not learn it.
 */
export type Shares = ReturnType<typeof createShares>;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 16;
const TIME_BYTES = 8;
/** Of a token in base64url. */
const TOKEN = /^[\w-]{70}$/;

/** Seals with AES-256-GCM below a key that is made of the installation's secret. */
export function createShares({ secret, clock }: { readonly secret: string; readonly clock: () => number }) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'kiln shared file', 32));
  return {
    /** What stands for the id (of a share) in an address that ends then, in milliseconds since 1970. */
    seal(id: string, endsAt: number): string {
      const plain = Buffer.alloc(ID_BYTES + TIME_BYTES);
      plain.write(id.replaceAll('-', ''), 'hex');
      plain.writeBigUInt64BE(BigInt(endsAt), ID_BYTES);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      );
    },
    /** The id in it; `ended` when its time is over, null when it is none of ours. */
    open(token: string): { readonly id: string } | 'ended' | null {
      const plain = TOKEN.test(token) ? unsealed(key, Buffer.from(token, 'base64url')) : null;
      if (plain === null) return null;
      if (plain.readBigUInt64BE(ID_BYTES) <= BigInt(clock())) return 'ended';
      const hex = plain.subarray(0, ID_BYTES).toString('hex');
      return { id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') };
    },
  };
}

function unsealed(key: Buffer, sealed: Buffer): Buffer | null {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

interface Parts {
  readonly database: MediaDatabase;
  readonly files: Pick<FileService, 'byIds' | 'opens'>;
  readonly shares: Shares;
  readonly publicUrl: string;
  /** Most addresses of one caller that have not ended; of a file of nobody's, of that file. */
  readonly limit: number;
  readonly clock: () => number;
}

const LEAST_SECONDS = 60;
const MOST_SECONDS = 366 * 86_400;

/** Makes the service. */
export function createShareService({
  database,
  files,
  shares,
  publicUrl,
  limit,
  clock,
}: Parts): ShareService {
  const shown = ({ id, mediaId, owner, createdAt, endsAt, name }: Row): Share => {
    const url = `${publicUrl}${formatFilePath(shares.seal(id, endsAt.getTime()), name)}`;
    return { id, mediaId, owner, createdAt, endsAt, url };
  };
  return {
    async share(caller, mediaId, seconds) {
      if (seconds < LEAST_SECONDS || seconds > MOST_SECONDS)
        throw badInput('seconds', `it is from ${LEAST_SECONDS} (a minute) to ${MOST_SECONDS} (a year)`);
      const [file = null] = isUuid(mediaId) ? await files.byIds([mediaId]) : [];
      if (file === null || !files.opens(caller, file)) throw notFound('media', mediaId);
      const share = {
        id: newId(),
        mediaId: file.id,
        owner: caller.id,
        createdAt: new Date(clock()),
        endsAt: new Date(clock() + seconds * 1_000),
      };
      if (!(await insertShare(database, share, { isAnonymous: caller.kind === 'anonymous', limit })))
        throw badInput('id', `there may be ${limit} such addresses at once: revoke one (revokeShare)`);
      return shown({ ...share, name: file.name, fileOwner: file.owner });
    },
    async list(caller, mediaId) {
      if (caller.kind === 'anonymous' || (mediaId !== null && !isUuid(mediaId))) return [];
      const made = selectShares(database).where('endsAt', '>', new Date(clock()));
      const rows = await (
        mediaId === null
          ? made.where('shares.owner', '=', caller.id)
          : made
              .where('mediaId', '=', mediaId)
              .where((where) =>
                where.or([where('shares.owner', '=', caller.id), where('file.owner', '=', caller.id)]),
              )
      )
        .orderBy('shares.createdAt', 'desc')
        .limit(limit)
        .execute();
      return rows.map(shown);
    },
    async revoke(caller, id) {
      const row = isUuid(id)
        ? await selectShares(database).where('shares.id', '=', id).executeTakeFirst()
        : undefined;
      const mayEnd = (owner: string) => mayChange(caller, owner, () => false);
      if (row === undefined || !(mayEnd(row.owner) || mayEnd(row.fileOwner))) throw notFound('share', id);
      await database.deleteFrom('media.shares').where('id', '=', id).execute();
      return shown(row);
    },
  };
}

type Row = Omit<Share, 'url'> & { readonly name: string; readonly fileOwner: string };

function selectShares(database: MediaDatabase) {
  return database
    .selectFrom('media.shares as shares')
    .innerJoin('media.media as file', 'file.id', 'shares.mediaId')
    .select(['shares.id', 'mediaId', 'shares.owner', 'shares.createdAt', 'endsAt', 'file.name'])
    .select('file.owner as fileOwner');
}

/** False when there are as many as there may be. */
async function insertShare(
  database: MediaDatabase,
  { id, mediaId, owner, createdAt, endsAt }: Omit<Row, 'name' | 'fileOwner'>,
  { isAnonymous, limit }: { readonly isAnonymous: boolean; readonly limit: number },
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    // Whoever counts at the same time counts this one too.
    const counted = isAnonymous ? mediaId : owner;
    await lockTransaction(transaction, `media.shares ${counted}`);
    const { count } = await transaction
      .selectFrom('media.shares')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(isAnonymous ? 'mediaId' : 'owner', '=', counted)
      .where('endsAt', '>', createdAt)
      .executeTakeFirstOrThrow();
    if (count >= limit) return false;
    await transaction.insertInto('media.shares').values({ id, mediaId, owner, createdAt, endsAt }).execute();
    return true;
  });
}

/** The file that a share stands for; null when it was revoked, or is none. */
export async function mediaOfShare(database: MediaDatabase, id: string): Promise<string | null> {
  const row = await database
    .selectFrom('media.shares')
    .select('mediaId')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.mediaId ?? null;
}

/** Removes those that have ended, at most so many. */
export async function pruneShares(database: MediaDatabase, now: Date, limit: number): Promise<void> {
  await sql`/* shares.prune */ delete from media.shares where id = any(array(
    select id from media.shares where ends_at < ${now} order by ends_at limit ${limit}))`.execute(database);
}
