import { anyModel, day, text, httpAddress } from './formats.ts';
import { optional, real, setting } from './setting.ts';

/** Which generators and models there are, and what they cost. */
export const catalogSettings = {
  GENERATORS_FILE: real(
    text,
    'JSON file: generator -> its bindings in order of fall-back, instead of the bundled ones of that generator',
    'bundled bindings',
  ),
  CATALOG_FILE: optional(
    text,
    'JSON file: provider -> models that are added to the bundled ones, or changed (docs/catalog.md)',
    'bundled catalog',
  ),
  CATALOG_DATE: optional(
    day,
    'day that models end by, YYYY-MM-DD, to see what would have ended on it (docs/catalog.md)',
    'today, in UTC',
  ),
  ANY_MODEL: setting(
    anyModel,
    'which models of fal and Replicate may be named besides those of the catalog: on, off, or patterns separated by commas such as fal-ai/flux*,black-forest-labs/* (docs/catalog.md)',
    'on',
  ),
  PRICES_FILE: optional(
    text,
    'JSON file: what each provider charges for each model (docs/costs.md)',
    'bundled price list',
  ),
};

/** ModelArk of Volcengine and BytePlus. */
export const arkSettings = {
  ARK_API_KEY: real(text, 'key of ModelArk (Volcengine, BytePlus), which makes videos of Seedance'),
  ARK_BASE_URL: optional(
    httpAddress,
    'base URL of ModelArk; outside China https://ark.ap-southeast.bytepluses.com/api/v3',
    'https://ark.cn-beijing.volces.com/api/v3',
  ),
};
