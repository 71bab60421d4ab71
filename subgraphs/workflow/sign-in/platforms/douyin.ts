import { z } from 'zod';

import type { Platform } from './platform.ts';
import {
  requestPlatform,
  platformError,
  withoutEmpty,
  subjectIn,
  type PlatformErrorKind,
  type SecretPlatformOptions,
} from './request.ts';

const NAME = 'douyin';

/** Errors by their number; any other is an outage. */
const REFUSALS: Readonly<Record<number, PlatformErrorKind>> = {
  40_014: 'code',
  40_018: 'code',
  40_019: 'code',
  40_015: 'app',
  40_017: 'app',
};

const answer = z.object({
  err_no: z.number(),
  data: z
    .object({
      openid: z.string().optional(),
      anonymous_openid: z.string().optional(),
      unionid: z.string().optional(),
      session_key: z.string().optional(),
    })
    .nullish(),
});

/** Douyin's mini-programs (`v2/jscode2session`). Users without an account there have an anonymous id. */
export function createDouyin({ http, apps, baseUrl }: SecretPlatformOptions): Platform {
  const secrets = new Map(apps.map(({ appId, secret }) => [appId, secret]));
  return {
    name: NAME,
    appIds: [...secrets.keys()],
    async exchange({ appId, code, anonymousCode }) {
      const { json } = await requestPlatform(http, NAME, {
        method: 'POST',
        url: `${baseUrl}/api/apps/v2/jscode2session`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          appid: appId,
          secret: secrets.get(appId) ?? '',
          code: code ?? '',
          anonymous_code: anonymousCode ?? '',
        }),
      });
      const { success, data: answered } = answer.safeParse(json);
      if (!success) throw platformError(NAME, 'outage', 'another form');
      const { err_no: number } = answered;
      if (number !== 0) throw platformError(NAME, REFUSALS[number] ?? 'outage', String(number));
      const data = answered.data ?? {};
      return {
        platform: NAME,
        appId,
        subject: subjectIn(NAME, data.openid, data.anonymous_openid),
        unionId: data.unionid || null,
        email: null,
        name: null,
        picture: null,
        secret: withoutEmpty({ session_key: data.session_key }),
      };
    },
  };
}
