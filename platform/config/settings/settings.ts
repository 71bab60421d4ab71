import {
  addressOrRange,
  adminSubject,
  browserOrigin,
  bucketName,
  comfyuiAddress,
  currency,
  hostAndPort,
  httpAddress,
  list,
  longSecret,
  postgresAddress,
  serviceKey,
  signingSecret,
  text,
  trueOrFalse,
  integer,
  oneOf,
} from './formats.ts';
import { rateLimits } from './rate-limits.ts';
import { optional, setting, type ValuesOf } from './setting.ts';
import { signInSettings } from './sign-in-settings.ts';

const YEAR_SECONDS = 31_536_000;
const CENTURY_DAYS = 36_500;

/** All settings, in the order of the README. A new one needs a line here and in .env.example, nothing else. */
export const settings = {
  KILN_ENV: optional(oneOf(['development', 'production']), {
    default: 'development',
    meaning:
      'development or production (also production when NODE_ENV=production): no sandbox, secrets demanded',
  }),
  HOST: setting(text, { default: '127.0.0.1', meaning: 'address that this process listens on' }),
  PORT: optional(integer(0, 65_535), {
    default: '4000',
    meaning:
      'port that it listens on (media 4001, workflow 4002 when split; a worker serves no requests); 0 takes any free one',
  }),
  PUBLIC_URL: optional(httpAddress, {
    default: 'http://HOST:PORT',
    meaning: 'URL that callers use; may have a path prefix',
  }),
  DATA_DIR: setting(text, {
    default: '.kiln',
    meaning: 'embedded database, files, sandbox journals, development key',
  }),
  DATABASE_URL: optional(postgresAddress, {
    default: 'embedded PostgreSQL',
    meaning: 'any PostgreSQL 14 or newer; unix sockets too (postgresql:///name?host=/var/run/postgresql)',
  }),
  ROLE: setting(oneOf(['all', 'gateway', 'media', 'workflow', 'worker']), {
    default: 'all',
    meaning: 'all, gateway, media, workflow or worker (also npm run start:ROLE)',
  }),
  MEDIA_URL: optional(httpAddress, {
    default: 'in process',
    meaning: 'URL of the media subgraph when split',
  }),
  WORKFLOW_URL: optional(httpAddress, {
    default: 'in process',
    meaning: 'URL of the workflow subgraph when split',
  }),
  INTERNAL_KEY: optional(longSecret, {
    meaning: 'signs caller assertions between processes (needed when split) and expiring file URLs',
  }),
  REST_AUTH: optional(oneOf(['open', 'compat', 'required']), {
    default: 'open where allowed',
    meaning:
      'who may call without a credential: open, compat or required; must be set once anything real is configured',
  }),
  SERVICE_KEYS: setting(list(serviceKey, 'name=sha256 of the secret in 64 hexadecimal digits'), {
    default: '',
    meaning: 'service keys: name=sha256 of the secret, separated by commas',
  }),
  ADMIN_SUBJECTS: setting(list(adminSubject, 'issuer|subject'), {
    default: '',
    meaning: 'administrators after sign-in: issuer|subject, separated by commas',
  }),
  ...signInSettings,
  TRUST_PROXY: setting(list(addressOrRange, 'IP addresses or CIDR ranges'), {
    default: '',
    meaning: 'addresses or CIDRs of proxies whose X-Forwarded-* headers are trusted',
  }),
  CORS_ORIGINS: optional(
    list((entry) => (entry === '*' ? entry : browserOrigin(entry)), 'origins such as https://example.org'),
    {
      default: 'any in development, none in production',
      meaning: 'browser origins that may call, separated by commas; * for any',
    },
  ),
  RATE_LIMIT: setting(rateLimits, {
    default: 'on',
    meaning: 'on (status=6000,read=1200,start=120 requests per minute and caller), off, or such a list',
  }),
  UPLOAD_MAX_BYTES: setting(integer(1, 2 ** 40), {
    default: '1073741824',
    meaning: 'largest upload in bytes, per file',
  }),
  SYNC_MAX_WAIT: setting(integer(1, 3_600), {
    default: '500',
    meaning: 'seconds that a synchronous operation waits when it has no max_wait_time',
  }),
  FILES_URL_TTL: setting(integer(0, YEAR_SECONDS), {
    default: '0',
    meaning: 'seconds that file URLs stay valid, which makes them signed; 0 = forever',
  }),
  MEDIA_RETENTION_DAYS: setting(integer(0, CENTURY_DAYS), {
    default: '0',
    meaning: 'days that files are kept; 0 = forever',
  }),
  S3_ENDPOINT: optional(httpAddress, {
    default: 'AWS, when S3_BUCKET is set',
    meaning: 'URL of an S3-compatible server; callers fetch files from there, unless CDN_BASE_URL is set',
  }),
  S3_BUCKET: optional(bucketName, {
    default: 'files in DATA_DIR',
    meaning: 'bucket that files are stored in; needs both keys below',
  }),
  S3_REGION: optional(text, {
    default: 'us-east-1 with S3_ENDPOINT',
    meaning: 'region of the bucket; needed on AWS',
  }),
  S3_ACCESS_KEY_ID: optional(text, { meaning: 'access key that may read, write and delete in the bucket' }),
  S3_SECRET_ACCESS_KEY: optional(text, {
    meaning: 'signs the requests to the bucket, and the URLs of files',
  }),
  CDN_BASE_URL: optional(httpAddress, {
    meaning:
      'URL of a CDN in front of the bucket (without S3: of PUBLIC_URL); files are then also at CDN_BASE_URL/files/ID/NAME',
  }),
  EVENT_RETENTION_DAYS: setting(integer(0, CENTURY_DAYS), {
    default: '30',
    meaning: 'days that event logs are kept after the end of their task; 0 = forever',
  }),
  OUTBOUND_ALLOW: setting(list(hostAndPort, 'host:port'), {
    default: '',
    meaning: 'private addresses that may be fetched: host:port, separated by commas',
  }),
  WEBHOOK_SECRET: optional(signingSecret, {
    default: 'made at first start',
    meaning: 'signs result webhooks: whsec_ and 24 to 64 bytes in base64',
  }),
  GENERATORS_FILE: optional(text, {
    default: 'bundled bindings',
    meaning:
      'JSON file: generator -> its bindings in order of fall-back, instead of the bundled ones of that generator',
  }),
  OPENAI_API_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'key of OpenAI or of a server with the same API',
  }),
  OPENAI_BASE_URL: optional(httpAddress, {
    default: 'https://api.openai.com/v1 with a key',
    meaning: 'base URL of that server up to its version (.../v1); enough by itself when it needs no key',
  }),
  GEMINI_API_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'key of the Gemini API',
  }),
  GEMINI_BASE_URL: optional(httpAddress, {
    default: 'https://generativelanguage.googleapis.com/v1beta',
    meaning: 'base URL of that API up to its version',
  }),
  KLING_ACCESS_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'access key of the Kling API, together with KLING_SECRET_KEY',
  }),
  KLING_SECRET_KEY: optional(text, { meaning: 'signs the tokens for the Kling API' }),
  KLING_API_KEY: optional(text, { meaning: 'API key of the Kling API, instead of the pair of keys' }),
  KLING_BASE_URL: optional(httpAddress, {
    default: 'https://api-singapore.klingai.com',
    meaning: 'base URL of the Kling API',
  }),
  MINIMAX_API_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'key of the MiniMax API',
  }),
  MINIMAX_GROUP_ID: optional(text, { meaning: 'its group, for keys that need one' }),
  MINIMAX_BASE_URL: optional(httpAddress, {
    default: 'https://api.minimax.io',
    meaning: 'base URL of the MiniMax API',
  }),
  HEDRA_API_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'key of the Hedra API',
  }),
  HEDRA_BASE_URL: optional(httpAddress, {
    default: 'https://api.hedra.com/web-app',
    meaning: 'base URL of the Hedra API',
  }),
  HIGGSFIELD_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'credentials of the Higgsfield API, KEY_ID:KEY_SECRET',
  }),
  HIGGSFIELD_BASE_URL: optional(httpAddress, {
    default: 'https://api.higgsfield.ai',
    meaning: 'base URL of the Higgsfield API',
  }),
  VOLCENGINE_ACCESS_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning:
      'access key of Volcengine, together with VOLCENGINE_SECRET_KEY; it fetches its inputs, so PUBLIC_URL (or the bucket) must be at a public https address',
  }),
  VOLCENGINE_SECRET_KEY: optional(text, { meaning: 'signs the requests to Volcengine' }),
  VOLCENGINE_BASE_URL: optional(httpAddress, {
    default: 'https://visual.volcengineapi.com',
    meaning: 'base URL of its visual service',
  }),
  VOLCENGINE_VOD_BASE_URL: optional(httpAddress, {
    default: 'https://vod.volcengineapi.com',
    meaning: 'base URL of its video storage',
  }),
  VOLCENGINE_VOD_SPACE: optional(text, {
    meaning: 'space in that storage that videos of avatars are uploaded to; without one avatars are refused',
  }),
  FAL_KEY: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'key of fal',
  }),
  FAL_BASE_URL: optional(httpAddress, {
    default: 'https://queue.fal.run',
    meaning: "base URL of fal's queue",
  }),
  FAL_REST_BASE_URL: optional(httpAddress, {
    default: 'https://rest.fal.ai',
    meaning: "base URL of fal's storage and of the keys that sign its webhooks",
  }),
  REPLICATE_API_TOKEN: optional(text, {
    default: 'sandbox in development, absent in production',
    meaning: 'token of Replicate',
  }),
  REPLICATE_BASE_URL: optional(httpAddress, {
    default: 'https://api.replicate.com/v1',
    meaning: 'base URL of the Replicate API up to its version',
  }),
  COMFYUI_URLS: optional(list(comfyuiAddress, 'http:// or https:// addresses'), {
    default: 'sandbox in development, absent in production',
    meaning: 'URLs of ComfyUI servers, separated by commas; each job goes to the least loaded',
  }),
  COMFYUI_API_KEY: optional(text, {
    meaning: 'sent to them as X-API-Key, where a proxy before them needs it',
  }),
  MIDJOURNEY_BASE_URL: optional(httpAddress, {
    default: 'sandbox in development, absent in production',
    meaning: 'URL of a midjourney-proxy server',
  }),
  MIDJOURNEY_SECRET: optional(text, { meaning: 'its mj-api-secret, when it needs one' }),
  AGG_BASE_URL: optional(httpAddress, {
    default: 'sandbox in development, absent in production',
    meaning: 'base URL of the aggregator behind the agg generators',
  }),
  AGG_API_KEY: optional(text, { meaning: 'key of the aggregator' }),
  STRIPE_SECRET_KEY: optional(text, {
    default: 'sandbox in development, no payments in production',
    meaning: 'key of Stripe, the payment provider',
  }),
  STRIPE_WEBHOOK_SECRETS: setting(
    list((entry) => entry, 'secrets'),
    {
      default: '',
      meaning:
        'secrets of the webhook to PUBLIC_URL/payment/webhook, separated by commas; several while they rotate',
    },
  ),
  PP_LIVE: setting(trueOrFalse, {
    default: 'false',
    meaning: 'true allows a live key of Stripe, which charges real money',
  }),
  PP_CURRENCY: setting(currency, { default: 'usd', meaning: 'currency of the prices' }),
  PP_CREDIT_UNIT_AMOUNT: setting(integer(1, 1_000_000), {
    default: '100',
    meaning: 'price of one credit in minor units of the currency',
  }),
  PP_AUTO_REFUND: setting(trueOrFalse, {
    default: 'false',
    meaning:
      'true refunds a payment when its execution fails, unless moderation refused it or it was cancelled',
  }),
  SANDBOX_AUTO_PAY: optional(trueOrFalse, {
    default: 'on in development',
    meaning: 'true lets a success call pay its checkout at the sandbox first; false requires the hosted page',
  }),
  SANDBOX_URL: optional(httpAddress, {
    default: 'embedded in development',
    meaning:
      'origin of a sandbox that runs elsewhere (docs/sandbox.md), instead of the embedded one, which split processes have not; development only',
  }),
  LOG_LEVEL: setting(oneOf(['silent', 'error', 'warn', 'info', 'debug']), {
    default: 'info',
    meaning: 'least severe lines that are logged: silent, error, warn, info or debug',
  }),
};

/** The parsed settings, by name. */
export type Values = ValuesOf<typeof settings>;
