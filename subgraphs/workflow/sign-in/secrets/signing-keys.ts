import type { CryptoKey, JWK } from 'jose';
import { sql } from 'kysely';

import type { WorkflowDatabase, WorkflowTransaction } from '../../database/database.ts';
import type { Encryption } from './encryption.ts';

/**
 * The keys of access tokens: EdDSA, encrypted in the database and shared by all processes. A key signs for a month; its
 * successor is published a day earlier, so that caches of the key set have it in time; the old one stays published until
 * its last token has expired.
 */
export type SigningKeys = ReturnType<typeof createSigningKeys>;

interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

export interface SigningKeysOptions {
  readonly database: WorkflowDatabase;
  readonly encryption: Encryption;
  /** Seconds that a token lives: an old key stays published that much longer. */
  readonly tokenSeconds: number;
  readonly now?: () => Date;
}

const DAY_MS = 86_400_000;
const SIGNS_MS = 30 * DAY_MS;
const AHEAD_MS = DAY_MS;
/** Milliseconds that the keys are cached; an unknown key id causes a read after LOOK_AGAIN_MS. */
const FRESH_MS = 60_000;
const LOOK_AGAIN_MS = 2_000;

interface Loaded {
  readonly at: number;
  readonly signing: SigningKey;
  readonly jwks: readonly JWK[];
  readonly keys: ReadonlyMap<string, CryptoKey>;
}

/** Creates the store; keys are cached for a minute. */
export function createSigningKeys(options: SigningKeysOptions) {
  const now = options.now ?? (() => new Date());
  let loading: Promise<Loaded> | null = null;
  let loadedAt = 0;
  /** At most one read at a time; a failed one is not cached. */
  const load = (maxAgeMs: number): Promise<Loaded> => {
    if (loading === null || now().getTime() - loadedAt > maxAgeMs) {
      loadedAt = now().getTime();
      loading = readKeys(options, now());
      loading.catch(() => {
        loading = null;
      });
    }
    return loading;
  };
  return {
    /** The key that signs now. */
    current: async () => (await load(FRESH_MS)).signing,
    /** The public key of this name, while it is published; null for any other. */
    async publicKey(kid: string): Promise<CryptoKey | null> {
      const known = (await load(FRESH_MS)).keys.get(kid);
      return known ?? (await load(LOOK_AGAIN_MS)).keys.get(kid) ?? null;
    },
    /** Every published key, as /.well-known/jwks.json gives them. */
    published: async () => (await load(FRESH_MS)).jwks,
  };
}

async function readKeys(
  { database, encryption, tokenSeconds }: SigningKeysOptions,
  now: Date,
): Promise<Loaded> {
  const rows = await database.transaction().execute(async (transaction) => {
    // One process creates a missing key, the others wait for it.
    await sql`select pg_advisory_xact_lock(hashtext('workflow.signing_keys'))`.execute(transaction);
    await ensureKeys(transaction, { encryption, tokenSeconds, now });
    return transaction
      .selectFrom('workflow.signingKeys')
      .selectAll()
      .where('publishedUntil', '>', now)
      .orderBy('signsFrom')
      .execute();
  });
  // With a clock behind the one that created the first key, the first key is used.
  const signing = rows.findLast((row) => row.signsFrom <= now) ?? rows[0];
  const privateJwk = signing === undefined ? null : await encryption.decrypt(signing.sealedPrivateJwk);
  if (signing === undefined || privateJwk === null) {
    throw new Error(
      'the signing keys were sealed with another secret: restore it, or delete workflow.signing_keys',
    );
  }
  const keys = rows.map(async (row) => [row.kid, await importEdDsa(row.publicJwk)] as const);
  return {
    at: now.getTime(),
    signing: { kid: signing.kid, key: await importEdDsa(privateJwk as JWK) },
    jwks: rows.map((row) => row.publicJwk),
    keys: new Map(await Promise.all(keys)),
  };
}

async function ensureKeys(
  transaction: WorkflowTransaction,
  {
    encryption,
    tokenSeconds,
    now,
  }: { readonly encryption: Encryption; readonly tokenSeconds: number; readonly now: Date },
): Promise<void> {
  await transaction.deleteFrom('workflow.signingKeys').where('publishedUntil', '<=', now).execute();
  const newest = await transaction
    .selectFrom('workflow.signingKeys')
    .select('signsUntil')
    .orderBy('signsUntil', 'desc')
    .executeTakeFirst();
  const until = newest?.signsUntil.getTime() ?? 0;
  if (until - now.getTime() > AHEAD_MS) return;
  // Loaded only when needed.
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose');
  const signsFrom = new Date(Math.max(until, now.getTime()));
  const signsUntil = new Date(signsFrom.getTime() + SIGNS_MS);
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), alg: 'EdDSA', use: 'sig' };
  const kid = await calculateJwkThumbprint(publicJwk);
  await transaction
    .insertInto('workflow.signingKeys')
    .values({
      kid,
      publicJwk: JSON.stringify({ ...publicJwk, kid }),
      sealedPrivateJwk: await encryption.encrypt({ ...(await exportJWK(privateKey)), alg: 'EdDSA' }),
      signsFrom,
      signsUntil,
      publishedUntil: new Date(signsUntil.getTime() + tokenSeconds * 1000 + AHEAD_MS),
    })
    .execute();
}

async function importEdDsa(jwk: JWK): Promise<CryptoKey> {
  const { importJWK } = await import('jose');
  const key = await importJWK(jwk, 'EdDSA');
  if (key instanceof Uint8Array) throw new Error('a signing key is no EdDSA key');
  return key;
}
