import { capacitySettings, CENTURY_DAYS, retentionSettings } from './capacity-settings.ts';
import { arkSettings, catalogSettings } from './catalog-settings.ts';
import { developmentSettings } from './development-settings.ts';
import { faceSettings } from './face-settings.ts';
import {
  addressOrRange,
  adminSubject,
  browserOrigin,
  bucketName,
  comfyuiAddress,
  hostAndPort,
  httpAddress,
  httpAddresses,
  list,
  longSecret,
  postgresAddress,
  serviceKey,
  signingSecret,
  text,
  integer,
  oneOf,
} from './formats.ts';
import { callerRates, rateLimits, uploadQuotas } from './limits.ts';
import { observabilitySettings } from './observability-settings.ts';
import { paymentSettings } from './payment-settings.ts';
import { optional, real, setting, type ValuesOf } from './setting.ts';
import { signInSettings } from './sign-in-settings.ts';

const YEAR_SECONDS = 31_536_000;

/** All settings, in the order of docs/settings.md, which `npm run schema` writes. A new one needs a line here and in .env.example. */
export const settings = {
  KILN_ENV: optional(
    oneOf(['development', 'demo', 'production']),
    'development, demo (development that any HOST may show to anybody, while nothing real is configured) or production (also when NODE_ENV=production): no sandbox, secrets demanded',
    'development',
  ),
  HOST: setting(text, 'address that this process listens on', '127.0.0.1'),
  PORT: optional(
    integer(0, 65_535),
    'port that it listens on (media 4001, workflow 4002 when split; a worker serves no requests); 0 takes any free one',
    '4000',
  ),
  PUBLIC_URL: optional(httpAddress, 'URL that callers use; may have a path prefix', 'http://HOST:PORT'),
  DATA_DIR: setting(text, 'embedded database, files, sandbox journals, development key', '.kiln'),
  DATABASE_URL: optional(
    postgresAddress,
    'any PostgreSQL 14 or newer; unix sockets too (postgresql:///name?host=/var/run/postgresql)',
    'embedded PostgreSQL',
  ),
  DATABASE_READ_URL: optional(
    postgresAddress,
    'a physical standby of the database, for reads that may be late: lists of tasks, totals of usage, the audit log. Used only while it lacks no more than DATABASE_READ_LATE',
    'all reads are of the primary',
  ),
  DATABASE_READ_LATE: setting(
    integer(1, 300),
    'most seconds that what is read at DATABASE_READ_URL may lack; reads are of the primary while it is later or away',
    '5',
  ),
  ROLE: setting(
    oneOf(['all', 'gateway', 'media', 'workflow', 'worker']),
    'all, gateway, media, workflow or worker (also npm run start:ROLE)',
    'all',
  ),
  MEDIA_URL: optional(
    httpAddresses,
    'URL of the media subgraph when split, or several with one path, separated by commas; a host name may have several addresses',
    'in process',
  ),
  WORKFLOW_URL: optional(httpAddresses, 'the same of the workflow subgraph', 'in process'),
  SHARED_READS: setting(
    list((entry) => entry, 'names of subgraphs'),
    'subgraphs of --supergraph whose equal queries in flight, of callers with the same credential, share one answer: names, separated by commas',
    '',
  ),
  INTERNAL_KEY: optional(
    longSecret,
    'signs caller assertions between processes (needed when split) and expiring file URLs',
  ),
  REST_AUTH: optional(
    oneOf(['open', 'compat', 'required']),
    'who may call without a credential: open, compat or required; must be set once anything real is configured',
    'open where allowed',
  ),
  UNPAID_EXECUTIONS: optional(
    oneOf(['open', 'keys', 'nobody']),
    'who runs templates that cost something without paying: open (whoever REST_AUTH lets in), keys (service keys and administrators) or nobody',
    'open with REST_AUTH=open, else keys',
  ),
  SERVICE_KEYS: setting(
    list(serviceKey, 'name=sha256 of the secret in 64 hexadecimal digits'),
    'service keys: name=sha256 of the secret, separated by commas',
    '',
  ),
  ADMIN_SUBJECTS: setting(
    list(adminSubject, 'issuer|subject'),
    'administrators after sign-in: issuer|subject, separated by commas',
    '',
  ),
  ...signInSettings,
  ...capacitySettings,
  TRUST_PROXY: setting(
    list(addressOrRange, 'IP addresses or CIDR ranges'),
    'addresses or CIDRs of proxies whose X-Forwarded-* headers are trusted',
    '',
  ),
  CORS_ORIGINS: optional(
    list((entry) => (entry === '*' ? entry : browserOrigin(entry)), 'origins such as https://example.org'),
    'browser origins that may call, separated by commas; * for any',
    'any in development, none in production',
  ),
  RATE_LIMIT: setting(
    rateLimits,
    'on (status=6000,read=1200,start=120,write=600,sign-in=120,plan=600 per minute and caller: requests, and points of GraphQL documents that are new, one for each 1,000 characters, 50 fields and 10 levels), off, or such a list',
    'on',
  ),
  RATE_LIMIT_CALLERS: setting(
    callerRates,
    'limits of single callers (key_..., usr_..., an address or CIDR range) in place of those: key_shop start=1000,write=5000; 10.0.0.7 off',
    '',
  ),
  UPLOAD_MAX_BYTES: setting(integer(1, 2 ** 40), 'largest upload in bytes, per file', '1073741824'),
  UPLOAD_QUOTAS: setting(
    uploadQuotas,
    'most uploads, as bytes/files, 0 = no bound: anonymous per address and day, user and key in all; keys and users with scope admin have none',
    'anonymous=10737418240/1000,user=107374182400/10000,key=0/0',
  ),
  ...faceSettings,
  QUEUE_MAX_HOURS: setting(
    integer(1, 8_760),
    'hours that work may wait for its start, before it ends as failed and what was paid for it is refunded',
    '24',
  ),
  FILES_URL_TTL: setting(
    integer(0, YEAR_SECONDS),
    'seconds that file URLs stay valid, which makes them signed; 0 = forever',
    '0',
  ),
  FFMPEG_PATH: optional(
    text,
    'ffmpeg program that takes the first frame out of videos for their thumbnails, where Kiln decodes only H.264 of the Baseline profile',
    'a drawing instead',
  ),
  MEDIA_RETENTION_DAYS: setting(integer(0, CENTURY_DAYS), 'days that files are kept; 0 = forever', '0'),
  ANONYMOUS_UPLOAD_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that uploads of callers without a credential are kept, unless work uses them; 0 = forever',
    '30',
  ),
  SHARE_LIMIT: setting(
    integer(1, 100_000),
    'most addresses of files that one caller may have passed on (shareMedia) and that have not ended; of a file without an owner, of that file',
    '1000',
  ),
  AUDIT_RETENTION_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that the audit log is kept (who signed in, made keys, changed templates, refunded, acted on what is of others); 0 = forever',
    '365',
  ),
  S3_ENDPOINT: optional(
    httpAddress,
    'URL of an S3-compatible server; callers fetch files from there, unless CDN_BASE_URL is set',
    'AWS, when S3_BUCKET is set',
  ),
  S3_BUCKET: optional(
    bucketName,
    'bucket that files are stored in; needs both keys below',
    'files in DATA_DIR',
  ),
  S3_REGION: optional(text, 'region of the bucket; needed on AWS', 'us-east-1 with S3_ENDPOINT'),
  S3_ACCESS_KEY_ID: optional(text, 'access key that may read, write and delete in the bucket'),
  S3_SECRET_ACCESS_KEY: optional(text, 'signs the requests to the bucket, and the URLs of files'),
  CDN_BASE_URL: optional(
    httpAddress,
    'URL of a CDN in front of the bucket (without S3: of PUBLIC_URL); files are then also at CDN_BASE_URL/files/ID/NAME',
  ),
  ...retentionSettings,
  OUTBOUND_ALLOW: setting(
    list(hostAndPort, 'host:port'),
    'private addresses that may be fetched: host:port, separated by commas',
    '',
  ),
  WEBHOOK_SECRET: optional(
    signingSecret,
    'signs result webhooks: whsec_ and 24 to 64 bytes in base64',
    'made at first start',
  ),
  ...catalogSettings,
  WORKFLOW_NAMES: optional(
    text,
    'JSON file: name of a workflow in another system -> image, video or comfy:NAME, or {"workflow", "parameters"} with parameters that are always set',
  ),
  FALLBACK_MEDIA_URL: optional(
    httpAddress,
    'base URL of an existing media service that is asked for tasks that are not known here (docs/migrating.md)',
  ),
  FALLBACK_WORKFLOW_URL: optional(
    httpAddress,
    'the same for tasks, executions and payments of an existing workflow service',
  ),
  OPENAI_API_KEY: real(text, 'key of OpenAI or of a server with the same API'),
  OPENAI_BASE_URL: real(
    httpAddress,
    'base URL of that server up to its version (.../v1); enough by itself when it needs no key',
    'https://api.openai.com/v1 with a key',
  ),
  GEMINI_API_KEY: real(text, 'key of the Gemini API'),
  GEMINI_BASE_URL: optional(
    httpAddress,
    'base URL of that API up to its version',
    'https://generativelanguage.googleapis.com/v1beta',
  ),
  KLING_ACCESS_KEY: real(text, 'access key of the Kling API, together with KLING_SECRET_KEY'),
  KLING_SECRET_KEY: real(text, 'signs the tokens for the Kling API', 'none'),
  KLING_API_KEY: real(text, 'API key of the Kling API, instead of the pair of keys', 'none'),
  KLING_BASE_URL: optional(httpAddress, 'base URL of the Kling API', 'https://api-singapore.klingai.com'),
  MINIMAX_API_KEY: real(text, 'key of the MiniMax API'),
  MINIMAX_GROUP_ID: optional(text, 'its group, for keys that need one'),
  MINIMAX_BASE_URL: optional(httpAddress, 'base URL of the MiniMax API', 'https://api.minimax.io'),
  HEDRA_API_KEY: real(text, 'key of the Hedra API, KEY_ID:SECRET'),
  HEDRA_BASE_URL: optional(
    httpAddress,
    'base URL of the Hedra API; for an account of its older API https://api.hedra.com/web-app, with that key',
    'https://api.hedra.com/v3',
  ),
  ...arkSettings,
  HIGGSFIELD_KEY: real(text, 'credentials of the Higgsfield API, KEY_ID:KEY_SECRET'),
  HIGGSFIELD_BASE_URL: optional(httpAddress, 'base URL of the Higgsfield API', 'https://api.higgsfield.ai'),
  VOLCENGINE_ACCESS_KEY: real(
    text,
    'access key of Volcengine, together with VOLCENGINE_SECRET_KEY; it fetches its inputs, so PUBLIC_URL (or the bucket) must be at a public https address',
  ),
  VOLCENGINE_SECRET_KEY: real(text, 'signs the requests to Volcengine', 'none'),
  VOLCENGINE_BASE_URL: optional(
    httpAddress,
    'base URL of its visual service',
    'https://visual.volcengineapi.com',
  ),
  VOLCENGINE_VOD_BASE_URL: optional(
    httpAddress,
    'base URL of its video storage',
    'https://vod.volcengineapi.com',
  ),
  VOLCENGINE_VOD_SPACE: optional(
    text,
    'space in that storage that videos of avatars are uploaded to; without one avatars are refused',
  ),
  FAL_KEY: real(text, 'key of fal'),
  FAL_BASE_URL: optional(httpAddress, "base URL of fal's queue", 'https://queue.fal.run'),
  FAL_REST_BASE_URL: optional(
    httpAddress,
    "base URL of fal's storage and of the keys that sign its webhooks",
    'https://rest.fal.ai',
  ),
  FAL_SCHEMA_BASE_URL: optional(
    httpAddress,
    'base URL of the descriptions of its models (docs/catalog.md)',
    'https://fal.ai',
  ),
  REPLICATE_API_TOKEN: real(text, 'token of Replicate'),
  REPLICATE_BASE_URL: optional(
    httpAddress,
    'base URL of the Replicate API up to its version',
    'https://api.replicate.com/v1',
  ),
  COMFYUI_URLS: real(
    list(comfyuiAddress, 'http:// or https:// addresses'),
    'URLs of ComfyUI servers, separated by commas; each job goes to the least loaded',
  ),
  COMFYUI_API_KEY: optional(text, 'sent to them as X-API-Key, where a proxy before them needs it'),
  MIDJOURNEY_BASE_URL: real(httpAddress, 'URL of a midjourney-proxy server'),
  MIDJOURNEY_SECRET: real(text, 'its mj-api-secret, when it needs one', 'none'),
  AGG_BASE_URL: real(httpAddress, 'base URL of the aggregator behind the agg generators'),
  AGG_API_KEY: real(text, 'key of the aggregator', 'none'),
  STRIPE_SECRET_KEY: real(
    text,
    'key of Stripe, the payment provider',
    'sandbox in development, no payments in production',
  ),
  STRIPE_WEBHOOK_SECRETS: setting(
    list((entry) => entry, 'secrets'),
    'secrets of the webhook to PUBLIC_URL/payment/webhook, separated by commas; several while they rotate',
    '',
  ),
  ...paymentSettings,
  ...developmentSettings,
  ...observabilitySettings,
};

/** The parsed settings, by name. */
export type Values = ValuesOf<typeof settings>;

/** Settings that connect Kiln to something real. */
export const realSettings = (Object.keys(settings) as (keyof Values)[]).filter(
  (name) => settings[name].isReal,
);
