import { createHash } from 'node:crypto';

import { sql } from 'kysely';

import type { Json } from '../../../platform/json.ts';
import { jsonText } from '../../../platform/json.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { Connection, UploadedFile } from '../providers/contract/provider.ts';

/**
 * Copies of our files in providers' storage. The file stays ours (its row and bytes are in files/), so work may name it
 * by our id or by the provider's URI, and goes on when the copy has expired: then it is sent again.
 */
export type ProviderResources = ReturnType<typeof createProviderResources>;

/** An account of a provider: what was uploaded with one is not there for another. A binding is one. */
export interface ProviderAccount {
  readonly provider: { readonly name: string };
  readonly connection: Pick<Connection, 'baseUrl' | 'pathPrefix' | 'headers' | 'credentials'>;
}

interface NewProviderResource {
  /** Our own file with the same content. */
  readonly mediaId: string;
  readonly owner: string;
  readonly account: ProviderAccount;
  /** What the provider answered. */
  readonly uploaded: UploadedFile;
}

interface ProviderResource {
  readonly mediaId: string;
  readonly owner: string;
  readonly provider: string;
  /** The provider's own id. */
  readonly resourceId: string;
  readonly uri: string | null;
  readonly answer: Json;
  readonly expiresAt: Date | null;
}

/** A copy that expires within this time may be gone before the provider reads it. */
const MARGIN_SECONDS = 300;
/** Days after which an expired URI is no longer known. */
const URI_DAYS = 30;

/** Makes the resources over the media schema. */
export function createProviderResources(database: MediaDatabase) {
  return {
    /** Stores an upload; the same file uploaded again replaces the row. */
    save: (resource: NewProviderResource): Promise<ProviderResource> => save(database, resource),
    /** The resource behind a provider's URI, expired or not; null for any other address. */
    async byUri(uri: string): Promise<ProviderResource | null> {
      const row = await database
        .selectFrom('media.providerResources')
        .selectAll()
        .where('uri', '=', uri)
        .orderBy('createdAt', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ?? null;
    },
    /** The copies of these files that an account still has, in their order; null where it has none. */
    async ofMedia(
      mediaIds: readonly string[],
      account: ProviderAccount,
    ): Promise<readonly (ProviderResource | null)[]> {
      if (mediaIds.length === 0) return [];
      const rows = await database
        .selectFrom('media.providerResources')
        .selectAll()
        .where(sql<boolean>`media_id = any(${[...mediaIds]}::uuid[])`)
        .where('provider', '=', account.provider.name)
        .where('account', '=', fingerprintAccount(account))
        .where(
          sql<boolean>`(expires_at is null or expires_at > now() + make_interval(secs => ${MARGIN_SECONDS}))`,
        )
        .execute();
      const byMedia = new Map(rows.map((row) => [row.mediaId, row]));
      return mediaIds.map((id) => byMedia.get(id.toLowerCase()) ?? null);
    },
    /** Removes what expired long ago, at most `limit`; answers how many. */
    async prune(limit: number): Promise<number> {
      const { numAffectedRows } = await sql`/* provider-resources.prune */
        delete from media.provider_resources where ctid = any(array(
          select ctid from media.provider_resources where expires_at < now() - make_interval(days => ${URI_DAYS})
          order by expires_at limit ${limit} for update skip locked))`.execute(database);
      return Number(numAffectedRows ?? 0);
    },
  };
}

async function save(database: MediaDatabase, resource: NewProviderResource): Promise<ProviderResource> {
  const { mediaId, owner, account, uploaded } = resource;
  return database
    .insertInto('media.providerResources')
    .values({
      mediaId,
      provider: account.provider.name,
      account: fingerprintAccount(account),
      owner,
      resourceId: uploaded.id,
      uri: uploaded.uri,
      answer: jsonText(uploaded.answer),
      expiresAt: uploaded.expiresAt,
    })
    .onConflict((conflict) =>
      conflict.columns(['mediaId', 'provider', 'account']).doUpdateSet((eb) => ({
        resourceId: eb.ref('excluded.resourceId'),
        uri: eb.ref('excluded.uri'),
        answer: eb.ref('excluded.answer'),
        expiresAt: eb.ref('excluded.expiresAt'),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Address and credentials, not to be read back. */
function fingerprintAccount({
  connection: { baseUrl, pathPrefix, headers, credentials },
}: ProviderAccount): string {
  const sorted = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([baseUrl, pathPrefix, sorted(headers), sorted(credentials)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
