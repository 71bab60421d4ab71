import type { IncomingMessage } from 'node:http';

import type { Caller } from '../../platform/access/caller.ts';
import { AppError, toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { CallerFinder } from './caller.ts';

/** Checks the credentials of open sockets and streams, which must not outlive their token or its session. */
export type CredentialGuard = ReturnType<typeof createCredentialGuard>;

interface WatchedCredential {
  readonly request: IncomingMessage;
  readonly caller: Caller;
  /** Used instead of the Authorization header. */
  readonly authorization?: string | undefined;
}

export interface CredentialGuardOptions {
  readonly callers: CallerFinder;
  readonly logger: Logger;
  /** Milliseconds between two checks (default 1,000). */
  readonly everyMs?: number;
}

/** Makes the guard. Anonymous callers have no credential that could end. */
export function createCredentialGuard({ callers, logger, everyMs = 1_000 }: CredentialGuardOptions) {
  return {
    /** Calls `onEnd` once, when the credential is not valid any more. Returns the end of the watch. */
    watch({ request, caller, authorization }: WatchedCredential, onEnd: () => void): () => void {
      if (caller.kind === 'anonymous') return () => undefined;
      let isChecking = false;
      const stop = (): void => clearInterval(timer);
      const end = (): void => {
        stop();
        onEnd();
      };
      const check = async (): Promise<void> => {
        if (caller.expiresAt && caller.expiresAt.getTime() <= Date.now()) return end();
        try {
          const now = await callers.find(request, { authorization, strict: true });
          if (now.id !== caller.id) end();
        } catch (error) {
          if (error instanceof AppError && error.code === 'UNAUTHENTICATED') return end();
          // Checked again when the lookup failed; the token's own expiry holds.
          logger.debug({ error: toError(error) }, 'a credential could not be checked');
        }
      };
      const timer = setInterval(() => {
        if (isChecking) return;
        isChecking = true;
        void check().finally(() => {
          isChecking = false;
        });
      }, everyMs);
      timer.unref();
      return stop;
    },
  };
}
