import { z } from 'zod';

import type { Platform } from './platform.ts';
import {
  requestPlatform,
  requiredCode,
  platformError,
  withoutEmpty,
  subjectIn,
  type PlatformErrorKind,
  type SecretPlatformOptions,
} from './request.ts';

const NAME = 'wechat';

/** Errors by their number; any other is an outage. */
const REFUSALS: Readonly<Record<number, PlatformErrorKind>> = {
  40_029: 'code',
  40_163: 'code',
  41_008: 'code',
  40_226: 'person',
  45_011: 'rate',
  40_013: 'app',
  40_125: 'app',
  41_002: 'app',
  41_004: 'app',
};

const answer = z.object({
  errcode: z.number().optional(),
  openid: z.string().optional(),
  unionid: z.string().optional(),
  session_key: z.string().optional(),
});

/** WeChat's mini-programs (`jscode2session`): HTTP 200 for errors too, and the secret in the query. */
export function createWechat({ http, apps, baseUrl }: SecretPlatformOptions): Platform {
  const secrets = new Map(apps.map(({ appId, secret }) => [appId, secret]));
  return {
    name: NAME,
    appIds: [...secrets.keys()],
    async exchange({ appId, code }) {
      const query = new URLSearchParams({
        appid: appId,
        secret: secrets.get(appId) ?? '',
        js_code: requiredCode(code),
        grant_type: 'authorization_code',
      });
      const { json } = await requestPlatform(http, NAME, {
        method: 'GET',
        url: `${baseUrl}/sns/jscode2session?${query.toString()}`,
      });
      const { success, data } = answer.safeParse(json);
      if (!success) throw platformError(NAME, 'outage', 'another form');
      const { errcode = 0 } = data;
      if (errcode !== 0) throw platformError(NAME, REFUSALS[errcode] ?? 'outage', String(errcode));
      return {
        platform: NAME,
        appId,
        subject: subjectIn(NAME, data.openid),
        // Present only for apps bound to an open-platform account.
        unionId: data.unionid || null,
        email: null,
        name: null,
        picture: null,
        secret: withoutEmpty({ session_key: data.session_key }),
      };
    },
  };
}
