import type { PlatformIdentity } from '../../domain/sign-in.ts';

/** A platform of mini-programs: exchanges a code for an identity. A new one is a file here and a setting. */
export interface Platform {
  /** wechat, alipay, douyin. */
  readonly name: PlatformIdentity['platform'];
  /** The operator's apps there. */
  readonly appIds: readonly string[];
  /**
   * Calls the platform once: codes are single-use, so there is no retry. Throws AppError: UNAUTHENTICATED for an invalid or
   * expired code or a blocked user, RATE_LIMITED, NOT_CONFIGURED for an app or secret that the platform does not know,
   * UNAVAILABLE. No message contains a secret or an address.
   */
  exchange(request: PlatformCode): Promise<PlatformIdentity>;
}

interface PlatformCode {
  /** One of `appIds`. */
  readonly appId: string;
  readonly code: string | null;
  /** Douyin: a user who has not signed in at the platform. */
  readonly anonymousCode: string | null;
}
