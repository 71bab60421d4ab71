import { httpAddress, text } from './formats.ts';
import { optional, real } from './setting.ts';

/** ModelArk of Volcengine and BytePlus. */
export const arkSettings = {
  ARK_API_KEY: real(text, 'key of ModelArk (Volcengine, BytePlus), which makes videos of Seedance'),
  ARK_BASE_URL: optional(
    httpAddress,
    'base URL of ModelArk; outside China https://ark.ap-southeast.bytepluses.com/api/v3',
    'https://ark.cn-beijing.volces.com/api/v3',
  ),
};
