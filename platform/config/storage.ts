import type { Report } from './settings/setting.ts';
import type { Values } from './settings/settings.ts';

/** Other servers mostly ignore the region; both sides sign with the same one. */
const DEFAULT_REGION = 'us-east-1';

/** Checks that a bucket is configured completely or not at all. */
export function checkStorage(values: Values, report: Report): void {
  const present = S3_SETTINGS.filter((name) => values[name] !== null);
  if (present.length > 0) {
    for (const name of ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const) {
      if (values[name] === null) report(name, `is needed with ${present.join(', ')}: or unset all of S3_*`);
    }
    if (values.S3_ENDPOINT === null && values.S3_REGION === null) {
      report('S3_REGION', 'is needed on AWS; set S3_ENDPOINT for another S3-compatible server');
    }
  }
  if (values.CDN_BASE_URL !== null && values.FILES_URL_TTL > 0) {
    report('CDN_BASE_URL', 'gives out addresses that never expire: unset it, or FILES_URL_TTL');
  }
}

const S3_SETTINGS = [
  'S3_ENDPOINT',
  'S3_BUCKET',
  'S3_REGION',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
] as const;

/** Where file contents are stored: the configuration of checked settings. */
export function readStorageSettings(values: Values) {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = values;
  const endpoint = values.S3_ENDPOINT;
  const region = values.S3_REGION ?? DEFAULT_REGION;
  return {
    /** Null: the data directory. */
    s3:
      bucket === null || accessKeyId === null || secretAccessKey === null
        ? null
        : { endpoint, bucket, region, accessKeyId, secretAccessKey },
    /** In front of the bucket, or of PUBLIC_URL without one; without a trailing slash. */
    cdnBaseUrl: values.CDN_BASE_URL,
  };
}
