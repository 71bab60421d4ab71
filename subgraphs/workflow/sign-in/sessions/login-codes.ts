import { createHash, randomBytes } from 'node:crypto';

import { sql } from 'kysely';

import { AppError, badInput } from '../../../../platform/errors.ts';
import type { WorkflowDatabase } from '../../database/database.ts';
import type { NewSession } from '../../domain/sign-in.ts';
import type { Encryption } from '../secrets/encryption.ts';

/**
 * Login codes: redirects carry them instead of tokens. A code can be exchanged once, within a minute unless said
 * otherwise, by the app that started the sign-in (proved by PKCE).
 */
export type LoginCodes = ReturnType<typeof createLoginCodes>;

const SECONDS = 60;

/** Creates it over the workflow schema. */
export function createLoginCodes({
  database,
  encryption,
}: {
  readonly database: WorkflowDatabase;
  readonly encryption: Encryption;
}) {
  return {
    /** A new code for a session that is opened when the code is exchanged, within `seconds` (default 60). */
    async issue(
      { userId, platform, scope, providerToken }: NewSession,
      challenge: string | null,
      seconds: number = SECONDS,
    ): Promise<string> {
      const code = randomBytes(32).toString('base64url');
      await database
        .insertInto('workflow.loginCodes')
        .values({
          codeHash: hashLoginCode(code),
          userId,
          platform,
          scope,
          challenge,
          sealedProviderToken: providerToken === null ? null : await encryption.encrypt(providerToken),
          expiresAt: sql<Date>`now() + make_interval(secs => ${seconds})`,
        })
        .execute();
      return code;
    },
    /** Exchanges a code. UNAUTHENTICATED for one that is unknown, used, expired, or of another app. */
    async redeem(code: string, verifier: string | null): Promise<NewSession> {
      // Deleted in any case, so that a code can't be tried with several verifiers.
      const row = await database
        .deleteFrom('workflow.loginCodes')
        .where('codeHash', '=', hashLoginCode(code))
        .returning(['userId', 'platform', 'scope', 'challenge', 'sealedProviderToken'])
        .returning(sql<boolean>`expires_at > now()`.as('isFresh'))
        .executeTakeFirst();
      if (row === undefined || !row.isFresh || !isProof(row.challenge, verifier)) {
        throw new AppError('UNAUTHENTICATED', 'the login code is not valid (any more): sign in again');
      }
      const { userId, platform, scope, sealedProviderToken: sealed } = row;
      const token = sealed === null ? null : await encryption.decrypt(sealed);
      return { userId, platform, scope, providerToken: typeof token === 'string' ? token : null };
    },
  };
}

/** Checks the form of a PKCE challenge (S256). BAD_USER_INPUT. */
export function checkChallenge(challenge: string): void {
  if (!/^[\w-]{43}$/.test(challenge)) {
    throw badInput('code_challenge', 'code_challenge must be the base64url form of a SHA-256 (S256)');
  }
}

function isProof(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null) return true;
  return verifier !== null && createHash('sha256').update(verifier).digest('base64url') === challenge;
}

function hashLoginCode(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}
