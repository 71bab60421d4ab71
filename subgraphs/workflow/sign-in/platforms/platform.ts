import type { PlatformIdentity } from '../../domain/sign-in.ts';

/** A mini-program's platform: exchanges the code of its app for who is there. A new one is a file here and a setting. */
export interface Platform {
  /** wechat, alipay, douyin. */
  readonly name: PlatformIdentity['platform'];
  /** The operator's apps there. */
  readonly appIds: readonly string[];
  /**
   * Asks the platform, once: codes are good for one use, so nothing is tried again. Throws AppError: UNAUTHENTICATED for
   * a code that is not (any more) good or a person who is blocked, RATE_LIMITED, NOT_CONFIGURED for an app or secret
   * that the platform does not know, UNAVAILABLE. No message carries a secret or an address.
   */
  exchange(request: PlatformCode): Promise<PlatformIdentity>;
}

interface PlatformCode {
  /** One of `appIds`. */
  readonly appId: string;
  readonly code: string | null;
  /** Douyin: somebody who has not signed in at the platform. */
  readonly anonymousCode: string | null;
}
